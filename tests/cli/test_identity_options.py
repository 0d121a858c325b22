"""Commands with an identity: over TLS, with passwords and tokens from files and the environment, on MQTT and HTTP."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme
from commands import call, lapwing, one_error, rows
from tls_front import TlsFront

from lapwing import Broker, Client
from lapwing.errors import ConnectError

RULES = [
    {"identity": "spark", "may": ["stream"], "streams": ["readings"]},
    {"identity": "root", "may": ["admin"]},
    {"identity": "root", "may": ["publish", "subscribe"], "topics": ["#"]},
]


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """``root`` with a password, ``spark`` with a token in the file ``token``."""
    file = tmp_path / "users.toml"
    (tmp_path / "password").write_text("toor\n")
    added = call("user", "add", "root", "--password-stdin", "--users", str(file), stdin=b"toor\n")
    assert added.returncode == 0, added.stderr
    assert call("user", "add", "spark", "--no-password", "--users", str(file)).returncode == 0
    token = call("user", "token", "spark", "--name", "test", "--users", str(file))
    assert token.returncode == 0, token.stderr
    (tmp_path / "token").write_text(token.stdout)
    return file


@pytest.fixture
def broker(users: Path) -> Iterator[Broker]:
    with Broker(streams={"readings": "#", "other": "x"}, http="127.0.0.1:0", shards=1, users=users, rules=RULES) as it:
        yield it


def test_streams_are_read_with_a_token_and_forgotten_by_an_administrator(broker: Broker, tmp_path: Path) -> None:
    token, url = str(tmp_path / "token"), broker.http_url
    password = ("--user", "root", "--password-file", str(tmp_path / "password"))
    assert one_error(call("stream", "list", "--url", url)).startswith("this needs an identity")
    listed = rows(call("stream", "list", "--url", url, "--json", "--token-file", token))
    assert [stream["name"] for stream in listed] == ["readings"]
    by_variable = call("stream", "list", "--url", url, "--json", LAPWING_TOKEN=Path(token).read_text().strip())
    assert rows(by_variable) == listed
    assert call("stream", "read", "readings", "0", "--url", url, "--token-file", token).returncode == 0
    forbidden = call("stream", "read", "other", "0", "--url", url, "--token-file", token)
    assert forbidden.returncode == 3
    assert "[[rules]]" in one_error(forbidden)
    forget = ("stream", "forget", "readings", "nobody", "--url", url)
    assert "may not" in one_error(call(*forget, "--token-file", token))
    assert "remembers no reader" in one_error(call(*forget, *password))
    assert "is given" not in call("stream", "list", "--url", url, *password).stderr


def test_pub_sub_and_shell_over_tls(lapwing_broker: Broker, tmp_path: Path) -> None:
    with TlsFront(int(urlsplit(lapwing_broker.url).port or 0), tmp_path) as front:
        url = f"tls://localhost:{front.port}"
        common = ("--url", url, "--ca", str(front.ca))
        published = lapwing("pub", "a", "on", "--retain", "--qos", "1", *common)
        assert (published.returncode, published.stderr) == (0, "")
        received = lapwing("sub", "a", "--count", "1", "--timeout", "30", "--url", url, LAPWING_CA=str(front.ca))
        assert received.stdout == "a on\n"
        assert "TLS" in one_error(lapwing("pub", "a", "on", "--url", url))
        script = b"connect d1\npub a off --retain --qos 1 --packet-id 7\nsub a --subscription-id 9\nwait\n"
        shown = lapwing("shell", "--json", *common, stdin=script)
        assert '"subscription_ids": [9]' in shown.stdout, shown.stderr


def test_pub_sub_and_shell_with_a_user_and_its_password(broker: Broker, tmp_path: Path) -> None:
    url, file = ("--url", broker.url), str(tmp_path / "password")
    user = ("--username", "root", "--password-file", file)
    assert call("pub", "a", "on", "--retain", "--qos", "1", *url, *user).returncode == 0
    by_variable = call(
        "sub", "a", "--count", "1", "--timeout", "30", *url, "--username", "root", LAPWING_PASSWORD="toor"
    )
    assert by_variable.stdout == "a on\n"
    assert call("pub", "a", "off", "--qos", "1", *url).returncode == 1, "the anonymous may not"
    wrong = call("pub", "a", "off", *url, "--username", "root", LAPWING_PASSWORD="s3cret")
    assert wrong.returncode == 3
    assert "s3cret" not in one_error(wrong)
    script = f"connect d1\npub a 1 --qos 1\nconnect d2 --username root --password-file {file}\npub a 2 --qos 1\n"
    assert call("shell", *url, *user, stdin=script.encode()).stderr == ""
    elsewhere = f"connect d1 --url {broker.url.replace('127.0.0.1', 'localhost')}\npub a 3 --qos 1\n"
    refused = call("shell", *url, *user, stdin=elsewhere.encode())
    assert "line 2" in one_error(refused), "the shell's user is for the shell's broker"


def test_a_client_shows_its_certificate_and_checks_the_brokers(lapwing_broker: Broker, tmp_path: Path) -> None:
    with TlsFront(int(urlsplit(lapwing_broker.url).port or 0), tmp_path, wants_client=True) as front:
        url = f"tls://localhost:{front.port}"
        with Client(url, ca=front.ca, certificate=front.client) as client:
            client.subscribe("a")
            client.publish("a", b"x" * 300_000, qos=2)
            message = client.receive(30.0)
            assert message is not None
            assert len(message.payload) == 300_000
        with pytest.raises(ConnectError):
            Client(url, ca=front.ca).connect()
        with pytest.raises(ConnectError, match="TLS"):
            Client(f"tls://127.0.0.1:{front.port}", ca=front.ca, certificate=front.client).connect()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pub", "a", "b", "--password-file", "x"), "a password without a user name"),
        (("pub", "a", "b", "--username", "u", "--password-file", "nowhere"), "cannot read the password"),
        (("stream", "list", "--user", "u", "--token-file", "t"), "token file and user are given"),
        (("stream", "list", "--user", "u"), "user 'u' without a password"),
        (("pub", "a", "b", "--url", "tls://localhost:1", "--ca", "nowhere.pem"), "nowhere.pem"),
        (("pub", "a", "b", "--url", "quic://h"), "does not speak"),
        (("pub", "a", "b", "--url", "tcp://h:1", "--ca", "c"), "--ca is for TLS, and tcp:// has none"),
        (("sub", "a", "--url", "ws://h:1", "--cert", "c", "--key", "k"), "--cert, --key are for TLS"),
        (("shell", "--url", "h:1", "--key", "k"), "write tls://"),
        (("stream", "list", "--url", "http://h:1", "--ca", "c"), "--ca is for TLS, and http:// has none"),
        (("pipeline", "run", "coverage", "--source", "http://h:1", "--out", "o", "--ca", "c"), "write https://"),
    ],
)
def test_options_that_cannot_be(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = call(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert said in one_error(result)


@pytest.mark.parametrize(
    "command",
    [
        ("pub", "t", "x"),
        ("sub", "t"),
        ("sub", "t", "--count", "1", "--timeout", "0.1"),
        ("swarm", "p2p"),
        ("swarm", "p2p", "--processes", "2", "--publishers", "2"),
        ("stream", "list"),
        ("sessions",),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("url", ["tcp://u:horse@h:1", "tls://u:horse@h:1", "http://u:ho/rse@h", "u:ho@rse@h"])
def test_a_password_in_a_url_is_not_shown(command: tuple[str, ...], url: str) -> None:
    result = call(*command, "--url", url)
    assert result.returncode in (2, 3)
    assert "rse" not in one_error(result)


def test_a_password_in_a_url_of_the_shell_is_not_shown() -> None:
    script = b"connect d\nconnect e --url u:ho/rse@h\n"
    result = call("shell", "--url", "tcp://u:horse@h:1", "--keep-going", stdin=script)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 2
    assert "rse" not in result.stderr


def test_the_environments_authorities_are_no_error_where_nothing_is_encrypted(broker: Broker, tmp_path: Path) -> None:
    """It is set once for all commands, whatever URL each has."""
    token = ("--token-file", str(tmp_path / "token"))
    assert call("stream", "list", "--url", broker.http_url, *token, LAPWING_CA="nowhere.pem").returncode == 0
    user = ("--username", "root", "--password-file", str(tmp_path / "password"))
    assert call("pub", "a", "b", "--url", broker.url, *user, LAPWING_CA="nowhere.pem").returncode == 0
    script = b"connect d1\npub a b\n"
    assert call("shell", "--url", broker.url, *user, stdin=script, LAPWING_CA="nowhere.pem").returncode == 0


def test_a_password_goes_nowhere_in_clear_where_authorities_are_given(tmp_path: Path) -> None:
    """Without a scheme it is https then, whatever answers."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    taken, _ = listener.accept()
                    with taken:
                        heard.append(taken.recv(4096))

        thread = threading.Thread(target=serve)
        thread.start()
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        port = listener.getsockname()[1]
        arguments = ("stream", "list", "--url", f"127.0.0.1:{port}", "--user", "root", "--ca", str(tmp_path / "ca.pem"))
        refused = call(*arguments, LAPWING_PASSWORD="toor")
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert f"https://127.0.0.1:{port}" in one_error(refused)
    assert heard
    assert all(each[:1] == b"\x16" for each in heard), "the first byte of a handshake"
