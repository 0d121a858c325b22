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
def device(authority: Authority, broker: lapwing.Broker, name: str | None) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose input goes out by DTLS, and whose output is what comes."""
    host_port = next(url for url in broker.urls if url.startswith("sns://")).removeprefix("sns://")
    command = [str(OPENSSL), "s_client", "-dtls1_2", "-quiet", "-verify_return_error", "-connect", host_port]
    command += ["-CAfile", authority.ca_file]
    if name is not None:
        issued = authority.ca.issue_cert("device.example", common_name=name)
        own = authority.folder / "device.pem"
        issued.private_key_and_cert_chain_pem.write_to_path(str(own))
        command += ["-cert", str(own), "-key", str(own)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


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
