"""A client at the wrong port: TLS where there is none, none where there is. Is it told, and is the operator?"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import Certificates
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

import lapwing

TIMEOUT_S = 30


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lapwing.Broker]:
    made = Certificates.make(tmp_path_factory.mktemp("certificates"))
    tls = {"url": "tls://127.0.0.1:0", "certificate": made.chain, "key": made.key}
    with lapwing.Broker(listeners=[{"url": "tcp://127.0.0.1:0"}, tls], shards=1) as broker:
        yield broker


def heard(broker: lapwing.Broker, what: str) -> str:
    deadline = time.monotonic() + TIMEOUT_S
    told: list[str] = []
    while time.monotonic() < deadline:
        told += [line.text for line in broker.log() if line.subject == "refused"]
        if found := [line for line in told if what in line]:
            return found[0]
        time.sleep(0.02)
    raise AssertionError(f"{what!r} is not in {told}")


def test_without_tls_where_it_is_spoken(broker: lapwing.Broker) -> None:
    url = broker.urls[1]
    with pytest.raises(lapwing.LapwingError, match="speaks TLS at this address: use tls://"):
        lapwing.Client(url.replace("tls:", "tcp:"), timeout_s=TIMEOUT_S).connect()
    assert url in heard(broker, "speaks without TLS")


def test_tls_where_none_is_spoken(broker: lapwing.Broker) -> None:
    url = broker.urls[0]
    with pytest.raises(lapwing.LapwingError, match="perhaps none is spoken at this port"):
        lapwing.Client(url.replace("tcp:", "tls:"), timeout_s=TIMEOUT_S).connect()
    assert url in heard(broker, "speaks TLS")


def test_mqtt_where_http_is_spoken() -> None:
    with lapwing.Broker(http="127.0.0.1:0") as broker:
        url = broker.http_url.replace("http:", "tcp:")
        with pytest.raises(lapwing.LapwingError, match="HTTP is spoken at this address"):
            lapwing.Client(url, timeout_s=TIMEOUT_S).connect()


def test_http_where_mqtt_is_spoken(broker: lapwing.Broker) -> None:
    host, port = broker.urls[0].removeprefix("tcp://").split(":")
    with socket.create_connection((host, int(port)), TIMEOUT_S) as page:
        page.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert page.recv(100) == b""
    assert "HTTP" in heard(broker, "speaks HTTP")


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_a_weak_key_is_said_to_be_that(tmp_path: Path, form: PrivateFormat) -> None:
    made = Certificates.make(tmp_path)
    weak = tmp_path / "weak.pem"
    key = rsa.generate_private_key(65_537, 1024)
    weak.write_bytes(key.private_bytes(Encoding.PEM, form, NoEncryption()))
    weak.chmod(0o600)
    with pytest.raises(lapwing.LapwingError, match="RSA of 1024 bits"):
        lapwing.Broker(listeners=[{"url": "tls://127.0.0.1:0", "certificate": made.chain, "key": weak}]).start()
