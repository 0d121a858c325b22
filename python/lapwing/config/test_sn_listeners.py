"""Listeners of MQTT-SN: which keys are theirs, what the node gets, and that none is open by accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config import Config, load
from lapwing.config.listeners import ListenerConfig, node_table
from lapwing.config.openness import check_listeners
from lapwing.errors import ConfigError

SN = '[[listeners]]\nurl = "sn://127.0.0.1:1884"\n'
SNS = '[[listeners]]\nurl = "sns://0.0.0.0:8883"\ncertificate = "c.pem"\nkey = "k.pem"\n'
KEYS = '[[listeners]]\nurl = "sns://0.0.0.0:8883"\npsk = "keys"\n'
ASKS = 'client_ca = "ca.pem"\nclient_certificate = "required"\nidentity = "certificate-cn"\n'


def config_of(tmp_path: Path, text: str) -> Config:
    """The configuration that ``text`` is."""
    path = tmp_path / "lapwing.toml"
    path.write_text(text)
    return load(path, environment={}).config


def test_the_node_gets_what_is_of_mqtt_sn_in_a_table_of_its_own(tmp_path: Path) -> None:
    text = f'{SN}retry = "2s"\npredefined = [{{ id = 1, topic = "a/b" }}]\nadvertise_to = "239.1.1.1:1884"\n'
    table = node_table(config_of(tmp_path, text).listeners[0])
    own = table["sn"]
    assert isinstance(own, dict)
    assert (own["retry_ms"], own["predefined"], own["advertise_to"]) == (
        2_000,
        [{"id": 1, "topic": "a/b"}],
        "239.1.1.1:1884",
    )
    assert "retry" not in table
    assert "publish_without_connect" not in own, "absent: as the address says"
    assert "sn" not in node_table(ListenerConfig(url="tcp://127.0.0.1:1883"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[listeners]]\nurl = "tcp://127.0.0.1:1"\nretry = "2s"\n', "retry has no meaning for tcp"),
        (f"{SN}behind_proxy = true\n", "behind_proxy has no meaning for sn"),
        (f'{SN}certificate = "c.pem"\n', "certificate has no meaning for sn"),
        (f'{SN}advertise_to = "somewhere:1884"\n', "must be an IP address with a port"),
        (f'{SN}predefined = [{{ id = 0, topic = "a" }}]\n', "greater than or equal to 1"),
        (f'{SN}predefined = [{{ id = 1, topic = "a/+" }}]\n', "it has a wildcard"),
        (
            f'{SN}predefined = [{{ id = 1, topic = "a" }}, {{ id = 1, topic = "b", client = "c" }}]\n',
            'id 1 is given to "a" and to "b"',
        ),
        (f'{SN}predefined = [{{ id = 1, topic = "a" }}, {{ id = 2, topic = "a" }}]\n', "has the ids 1 and 2"),
        ('[[listeners]]\nurl = "sns://127.0.0.1:8883"\n', "certificate is missing"),
        (f'{KEYS}key = "k.pem"\n', "certificate is missing"),
        (f'{SN}psk = "keys"\n', "psk has no meaning for sn"),
        (f"{KEYS}{ASKS}", "client_certificate needs a certificate of the listener's own"),
        (f'{SNS}path = "/mqtt"\n', "path has no meaning for sns"),
        (f'{SNS}client_ca = "ca.pem"\nclient_certificate = "optional"\n', "not possible with DTLS"),
        (f"{SNS}datagram_bytes_max = 255\n", "datagram_bytes_max must be 256 to 16384"),
        (f'{SNS}advertise_to = "239.1.1.1:1884"\n', "advertise_to has no meaning for sns"),
        (f'{SNS}{ASKS}publish_without_connect = ["a"]\n', "publish_without_connect lets nobody publish"),
    ],
)
def test_wrong_listeners_are_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config_of(tmp_path, text)
    assert words in str(raised.value)


def test_one_id_may_be_two_topics_of_two_clients(tmp_path: Path) -> None:
    both = '{ id = 1, topic = "a", client = "x" }, { id = 1, topic = "b", client = "y" }'
    assert len(config_of(tmp_path, f"{SN}predefined = [{both}]\n").listeners[0].predefined) == 2


@pytest.mark.parametrize(
    "text",
    [
        SN,
        '[broker]\nlisten = ["sn://127.0.0.1:1884"]\n',
        '[[listeners]]\nurl = "sn://0.0.0.0:1884"\nanonymous = true\n',
        f"{SNS}anonymous = true\n",
        f"{SNS}{ASKS}",
        KEYS,
        f'{SNS}psk = "keys"\n',
        f"{SNS}{ASKS}".replace("sns:", "mqtt-sns:"),
    ],
)
def test_what_is_meant_is_taken(tmp_path: Path, text: str) -> None:
    check_listeners(config_of(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        '[broker]\nlisten = ["sn://0.0.0.0:1884"]\n',
        '[[listeners]]\nurl = "sn://0.0.0.0:1884"\n',
        f"{SN}anonymous = false\n",
        SNS,
        # A certificate that names nobody lets nobody in either.
        SNS + ASKS.replace('"certificate-cn"', '"password"'),
        # There is nowhere to say a password: users do not help.
        '[auth]\nusers = "users"\n[[listeners]]\nurl = "sn://0.0.0.0:1884"\n',
    ],
)
def test_nobody_can_name_himself(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        check_listeners(config_of(tmp_path, text))
    assert "MQTT-SN has none" in raised.value.lines()[0]
