"""MQTT-SN over DTLS, with OpenSSL at the other end."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from authority import Authority
from wire import until

import lapwing

OPENSSL = shutil.which("openssl")
pytestmark = pytest.mark.skipif(OPENSSL is None, reason="the client is openssl s_client")

CONNECT = b"\x0e\x04\x04\x01\x00\x3cdevice-7"
ACCEPTED = b"\x03\x05\x00"
PUBLISH = b"\x0b\x0c\x22ab\x00\x0520.5"
ACKNOWLEDGED = b"\x07\x0dab\x00\x05\x00"
ENDED = 'lapwing_sn_dtls_ended_total{{reason="{}"}}'


@contextlib.contextmanager
def openssl(broker: lapwing.Broker, options: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose input goes out by DTLS, and whose output is what comes."""
    host_port = next(url for url in broker.urls if url.startswith("sns://")).removeprefix("sns://")
    command = [str(OPENSSL), "s_client", "-dtls1_2", "-quiet", "-connect", host_port, *options]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def device(
    authority: Authority, broker: lapwing.Broker, name: str | None
) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """A device that knows the authority, with a certificate or without."""
    options = ["-verify_return_error", "-CAfile", str(authority.ca_file)]
    if name is not None:
        issued = authority.ca.issue_cert("device.example", common_name=name)
        own = authority.folder / "device.pem"
        issued.private_key_and_cert_chain_pem.write_to_path(str(own))
        options += ["-cert", str(own), "-key", str(own)]
    return openssl(broker, options)


def keyed(broker: lapwing.Broker, name: str, key: str) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    """The same for a device that has a key, and no certificate."""
    # OpenSSL counts a tag of 8 bytes as weak.
    options = ["-psk_identity", name, "-psk", key, "-cipher", "PSK-AES128-CCM8:@SECLEVEL=0"]
    return openssl(broker, options)


def ask(process: subprocess.Popen[bytes], message: bytes, answer: bytes) -> None:
    """Sends one datagram and reads the one that comes back."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(message)
    assert process.stdout.read(len(answer)) == answer


def test_who_has_a_certificate_is_a_client(authority):
    """Does a device with a certificate publish as the user it names; and does nobody without one?"""
    sealed = {
        "url": "sns://127.0.0.1:0",
        **authority.listener,
        "client_ca": authority.ca_file,
        "client_certificate": "required",
        "identity": "certificate-cn",
        "anonymous": False,
    }
    rules = [
        {"identity": "meter", "may": ["publish"], "topics": ["ab"]},
        {"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]},
    ]
    with contextlib.ExitStack() as devices:
        with (
            lapwing.Broker(listen="tcp://127.0.0.1:0", listeners=[sealed], rules=rules, shards=1) as broker,
            lapwing.Client(broker.url) as client,
        ):
            client.subscribe("#")
            meter = devices.enter_context(device(authority, broker, "meter"))
            ask(meter, CONNECT, ACCEPTED)
            ask(meter, PUBLISH, ACKNOWLEDGED)
            message = client.receive(timeout_s=30)
            assert (message.topic, message.payload) == ("ab", b"20.5")
            devices.enter_context(device(authority, broker, None))
            until(lambda: any(broker.metrics()[ENDED.format(why)] for why in ("untrusted", "failed")))
            assert broker.metrics()["lapwing_sn_dtls_handshakes_total"] == 1
        assert meter.wait(30) == 0, "it is told that nothing more comes"


def test_who_has_a_key_is_a_client(tmp_path):
    """Does a device publish as the user whose key it has, nobody with another, and is it out when its key is gone?"""
    keys, key = tmp_path / "keys", "0f" * 16
    keys.write_text(f"meter:{key}\nspare:{'1e' * 32}\n")
    keys.chmod(0o600)
    rules = [
        {"identity": "meter", "may": ["publish"], "topics": ["ab"]},
        {"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]},
    ]
    sealed = {"url": "sns://127.0.0.1:0", "psk": str(keys), "anonymous": False}
    with (
        contextlib.ExitStack() as devices,
        lapwing.Broker(listen="tcp://127.0.0.1:0", listeners=[sealed], rules=rules, shards=1) as broker,
        lapwing.Client(broker.url) as client,
    ):
        client.subscribe("#")
        meter = devices.enter_context(keyed(broker, "meter", key))
        ask(meter, CONNECT, ACCEPTED)
        ask(meter, PUBLISH, ACKNOWLEDGED)
        assert client.receive(timeout_s=30).payload == b"20.5"
        devices.enter_context(keyed(broker, "meter", "00" * 16))
        until(lambda: broker.metrics()[ENDED.format("failed")] == 1)
        keys.write_text(f"spare:{'1e' * 32}\n")
        broker.reload()
        until(lambda: broker.metrics()['lapwing_certificates_lapsed_total{reason="key"}'] == 1)
        assert broker.metrics()["lapwing_sn_dtls_handshakes_total"] == 1
