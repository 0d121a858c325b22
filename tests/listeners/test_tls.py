"""TLS: what clients see of it, certificates of clients, and certificates that change while the broker runs."""

from __future__ import annotations

import contextlib
import signal
import ssl
import threading

import paho.mqtt.client as paho
import pytest
import wire
from authority import Authority, make_authority
from carriers import StreamWire, echo, greet, tcp, tls
from commands import RunningBroker
from wire import until

import lapwing
from lapwing.errors import ConfigError

TLS_ALERT = b"\x15"
REFUSED = 'lapwing_connections_refused_total{reason="tls"}'
PLAIN = 'lapwing_connections_refused_total{reason="no_tls"}'


def broker_with(authority: Authority, **settings: object) -> lapwing.Broker:
    return lapwing.Broker(listeners=[{"url": "tls://127.0.0.1:0", **authority.listener, **settings}], shards=2)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_messages_cross(authority, version):
    """Do packets small and large cross, under both versions of TLS, also where connections move between shards?"""
    context = authority.client()
    context.minimum_version = context.maximum_version = version
    with broker_with(authority) as broker:
        assert broker.url.startswith("tls://127.0.0.1:")
        for number in range(4):
            with StreamWire(tls(broker.url, context)) as client:
                assert greet(client, f"c{number}").reason == 0
                echo(client, f"t{number}", b"x" * 300_000)


def test_a_slow_reader_gets_everything(authority):
    """Does what finds no room in the kernel go out later, in order?"""
    with broker_with(authority) as broker, StreamWire(tls(broker.url, authority.client())) as reader:
        greet(reader, "reader")
        reader.send(wire.subscribe(("t", 1)))
        reader.expect(wire.SUBACK)
        with StreamWire(tls(broker.url, authority.client())) as writer:
            greet(writer, "writer")
            for number in range(100):
                writer.send(wire.publish("t", number.to_bytes(2) * 20_000, qos=1, packet_id=number + 1))
            for _ in range(100):
                writer.expect(wire.PUBACK)
        for number in range(100):
            message = reader.expect(wire.PUBLISH)
            assert message.payload == number.to_bytes(2) * 20_000
            reader.send(wire.ack(wire.PUBACK, message.packet_id))


def test_a_client_library_connects(authority):
    """Is a well-known client content?"""
    with broker_with(authority) as broker:
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, "paho")
        client.tls_set_context(authority.client())
        connected = threading.Event()
        client.on_connect = lambda *_: connected.set()
        client.connect("localhost", int(broker.url.rpartition(":")[2]))
        client.loop_start()
        try:
            assert connected.wait(30)
            sent = client.publish("t", "m", qos=1)
            sent.wait_for_publish(30)
            assert sent.is_published()
        finally:
            client.disconnect()
            client.loop_stop()


def test_plain_bytes_are_refused_and_counted(authority):
    with broker_with(authority) as broker, StreamWire(tcp(broker.url)) as client:
        client.send(wire.connect("plain"))
        with contextlib.suppress(ConnectionError):
            assert client.socket.recv(100)[:1] in (TLS_ALERT, b"")
        until(lambda: broker.metrics()[PLAIN] == 1)


def test_a_handshake_has_a_deadline(authority):
    """Is a connection that never says anything closed, and counted?"""
    listener = {"url": "tls://127.0.0.1:0", **authority.listener}
    with lapwing.Broker(listeners=[listener], shards=1, limits={"connect_timeout": "200ms"}) as broker:
        with StreamWire(tcp(broker.url)) as silent:
            silent.expect_end()
        until(lambda: broker.metrics()['lapwing_connections_closed_total{reason="connect_timeout"}'] == 1)


@pytest.mark.parametrize(("identity", "named"), [("certificate-cn", "device-7"), ("certificate-san", None)])
def test_a_required_certificate(authority, tmp_path, identity, named):
    """Are those let in that the authority has signed, and nobody else?"""
    settings = {"client_ca": authority.ca_file, "client_certificate": "required", "identity": identity}
    stranger = make_authority(tmp_path / "stranger")
    with broker_with(authority, anonymous=False, **settings) as broker:
        with StreamWire(tls(broker.url, authority.client(named or "x"))) as client:
            assert greet(client, "c").reason == 0
        unknown = stranger.client("device-7")
        authority.ca.configure_trust(unknown)
        for context in (authority.client(), unknown):
            # With TLS 1.3 a client learns of it only after its own part of the handshake.
            with (
                pytest.raises((ssl.SSLError, ConnectionError, AssertionError)),
                StreamWire(tls(broker.url, context)) as client,
            ):
                greet(client, "nobody")
        until(lambda: broker.metrics()[REFUSED] == 2)


@pytest.mark.parametrize("version", [4, 5])
def test_who_has_no_name_is_refused(authority, version):
    """Where certificates are optional and name the users, is one without refused, unless anybody may come?"""
    settings = {"client_ca": authority.ca_file, "client_certificate": "optional", "identity": "certificate-cn"}
    for anonymous, reason in ((False, {4: 5, 5: 0x87}[version]), (True, 0)):
        with broker_with(authority, anonymous=anonymous, **settings) as broker:
            with StreamWire(tls(broker.url, authority.client()), version) as client:
                assert greet(client, "nameless").reason == reason
            with StreamWire(tls(broker.url, authority.client("device-7")), version) as client:
                assert greet(client, "named").reason == 0


def test_certificates_are_reloaded_under_load(authority):
    """While clients come and go, does each handshake succeed with the old or the new one, and the last with the new?"""
    with broker_with(authority) as broker:
        failures: list[Exception] = []
        stop = threading.Event()

        def come_and_go(number: int) -> None:
            context = authority.client()
            while not stop.is_set():
                try:
                    with StreamWire(tls(broker.url, context)) as client:
                        assert greet(client, f"c{number}").reason == 0
                except Exception as failure:
                    failures.append(failure)
                    return

        with StreamWire(tls(broker.url, authority.client())) as lasting:
            greet(lasting, "lasting")
            threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(3)]
            for thread in threads:
                thread.start()
            for _ in range(10):
                before = serial(broker.url)
                authority.renew()
                assert broker.reload() == 1
                assert serial(broker.url) != before
            stop.set()
            for thread in threads:
                thread.join(30)
            assert failures == []
            echo(lasting, "t", b"still here")


def serial(url: str) -> bytes:
    """The certificate that a handshake sees now."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with tls(url, context) as stream:
        found = stream.getpeercert(binary_form=True)
    assert found is not None
    return found


def test_a_bad_file_keeps_the_old_certificate(authority):
    """Is what is wrong said, without a word of what is in the file, and does the listener go on as it was?"""
    with broker_with(authority) as broker:
        before = serial(broker.url)
        key = authority.folder / "server.key"
        key.write_text("-----BEGIN PRIVATE KEY-----\nsesame\n-----END PRIVATE KEY-----\n")
        with pytest.raises(ConfigError, match=r"server\.key") as caught:
            broker.reload()
        assert "sesame" not in str(caught.value)
        assert serial(broker.url) == before
        key.unlink()
        with pytest.raises(ConfigError, match=r"server\.key.*cannot be read"):
            broker.reload()
        authority.renew()
        assert broker.reload() == 1
        assert serial(broker.url) != before


def test_sighup_reads_certificates_again(authority, tmp_path):
    """Does the command's SIGHUP reload, and a bad file neither end it nor change what is in force?"""
    config = tmp_path / "lapwing.toml"
    keys = "".join(f'{key} = "{value}"\n' for key, value in authority.listener.items())
    config.write_text(f'[[listeners]]\nurl = "tls://127.0.0.1:0"\n{keys}')
    with RunningBroker(tmp_path / "data", "--config", str(config)).wait_until_ready() as broker:
        before = serial(broker.url)
        authority.renew()
        broker.process.send_signal(signal.SIGHUP)
        until(lambda: any("listeners with certificates: 1)" in line for line in broker.errors), 30)
        assert (after := serial(broker.url)) != before
        (authority.folder / "server.key").write_text("no key")
        broker.process.send_signal(signal.SIGHUP)
        until(lambda: any("server.key" in line and "what was in force stays" in line for line in broker.errors), 30)
        assert serial(broker.url) == after
        assert broker.end() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: (a.folder / "server.pem").unlink(), r"server\.pem: this file cannot be read"),
        (lambda a: (a.folder / "server.pem").write_text("x"), r"server\.pem: there is no certificate"),
        (lambda a: (a.folder / "server.key").write_text("x"), r"server\.key: there is no private key"),
        (
            lambda a: (a.folder / "server.key").write_bytes(a.ca.issue_cert("x").private_key_pem.bytes()),
            r"server\.key: this key does not belong to the certificate",
        ),
    ],
)
def test_wrong_files_at_start(authority, change, message):
    """Does the broker not start, with one error that names the file and the remedy?"""
    change(authority)
    with pytest.raises(ConfigError, match=message):
        broker_with(authority).start()


def test_the_end_is_orderly(authority):
    """Does a client that is sent away see DISCONNECT, then the end of TLS?"""
    broker = broker_with(authority).start()
    context = authority.client()
    with StreamWire(tls(broker.url, context)) as client:
        greet(client, "c")
        stopping = threading.Thread(target=broker.stop, args=(30.0,))
        stopping.start()
        assert client.expect(wire.DISCONNECT).reason == 0x8B
        # `recv` would raise an error of truncation if the end of TLS were missing.
        client.expect_end()
        stopping.join(30)
