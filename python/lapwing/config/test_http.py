"""The table ``[http]``: what may stand in it, and when MQTT is guarded by what HTTP cannot ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config import Config, load
from lapwing.config.openness import guards_of_mqtt
from lapwing.errors import ConfigError


def load_text(folder: Path, text: str) -> Config:
    file = folder / "lapwing.toml"
    file.write_text(text)
    return load(file, environment={}).config


def test_hosts_are_names_and_addresses(tmp_path: Path) -> None:
    """Is a name that a client may say in Host comparable with it as it stands there?"""
    config = load_text(tmp_path, "[http]\nhosts = ['Broker.Example', '[FD00:0::7]', '10.0.0.7', 'node_1', '*']")
    assert config.http.hosts == ["broker.example", "fd00::7", "10.0.0.7", "node_1", "*"]


@pytest.mark.parametrize("host", ["", "http://a", "a:8080", "a/b", "a b", ".", "a..b", "*.example", "a.", "[a]"])
def test_what_is_no_host_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_text(tmp_path, f"[http]\nhosts = ['{host}']")
    assert f'http.hosts[0] = "{host}"' in caught.value.lines()[0]
    assert "without scheme and port" in caught.value.lines()[0]


CERTIFIED = """
[[listeners]]
url = "tls://0.0.0.0:8883"
certificate = "a.pem"
key = "a.key"
client_ca = "ca.pem"
client_certificate = "required"
identity = "certificate-cn"
"""
LOCAL = '\n[[listeners]]\nurl = "tcp://127.0.0.1:1883"\n'
SOCKET = '\n[[listeners]]\nurl = "unix:///run/lapwing.sock"\n'


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("", ""),
        (LOCAL, ""),
        (CERTIFIED + LOCAL, ""),
        ("[broker]\nlisten = ['tcp://127.0.0.1:1883']\n" + CERTIFIED, ""),
        ("[hooks]\nuse = 'a:B'\n" + LOCAL, "hooks"),
        (CERTIFIED, "client certificates"),
        (CERTIFIED + SOCKET, "client certificates"),
        (CERTIFIED + '\n[[listeners]]\nurl = "sn://127.0.0.1:1884"\n', "client certificates"),
        (SOCKET, "its listeners (anonymous, MQTT-SN, or a Unix socket's mode)"),
        ("[broker]\nlisten = ['unix:///run/a.sock']", "its listeners (anonymous, MQTT-SN, or a Unix socket's mode)"),
    ],
)
def test_what_guards_mqtt(tmp_path: Path, text: str, guards: str) -> None:
    """Does it count as guarded unless somebody without a name has a listener to come through?"""
    config = load_text(tmp_path, text)
    assert guards_of_mqtt(config) == guards
    assert guards_of_mqtt(config, has_hooks=True) == "hooks"
