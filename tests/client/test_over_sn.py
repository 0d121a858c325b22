"""Clients over MQTT-SN: `pub` and `sub`, the shell, `Client`, consumers and publishers, through a real broker."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator

import pytest
from commands import call, one_error, rows
from unreleased import leave_unreleased

from lapwing import Broker, Client
from lapwing.client import Consumer, Publisher, Will
from lapwing.client.identity import Identity
from lapwing.client.options import ConnectOptions
from lapwing.errors import ConfigError, ConnectError, LapwingError, RejectedError
from lapwing.shell.script import run_script

TIMEOUT_S = 30.0
LONG = "long/" + "t" * 400


def sn_url(broker: Broker) -> str:
    return next(url for url in broker.urls if url.startswith("sn://"))


@pytest.fixture(scope="module")
def gateway() -> Iterator[Broker]:
    """A broker whose second listener is one of MQTT-SN; its clients may have ids for eight topics."""
    predefined = [{"id": 1, "topic": "known/beforehand"}]
    listener = {"url": "sn://127.0.0.1:0", "registrations_max": 8, "predefined": predefined}
    with Broker(listen="tcp://127.0.0.1:0", listeners=[listener]) as broker:
        yield broker


@pytest.mark.parametrize("qos", [0, 1, 2])
@pytest.mark.parametrize("topic", ["a/b", "ab", LONG, "known/beforehand"])
def test_a_message_there_and_back(gateway: Broker, topic: str, qos: int) -> None:
    """Does a message go either way as it is, whatever its topic is called over MQTT-SN?"""
    with Client(sn_url(gateway)) as device, Client(gateway.url) as other:
        assert device.client_id.startswith("sn-")
        for to, by in ((other, device), (device, other)):
            # A message of QoS 0 whose predefined id the device does not know is gone; SUBACK names another.
            is_exact = "/" not in topic or (topic == "known/beforehand" and qos == 0)
            filters = ["nothing/here", topic if is_exact else topic.partition("/")[0] + "/#"]
            assert to.subscribe(filters, qos=qos) == [qos, qos]
            for payload in (b"", b"\x00" * 300):
                by.publish(topic, payload, qos=qos)
                by.flush()
                message = to.receive(TIMEOUT_S)
                assert message
                assert (message.topic, message.payload, message.qos) == (topic, payload, qos)
            to.unsubscribe(filters)


def test_a_session_of_another_process_is_gone_on_with(gateway: Broker) -> None:
    """Is a message of QoS 2 there whose id the other process used as well, and did not release?"""
    with Client(gateway.url) as reader:
        reader.subscribe("of/two", qos=1)
        leave_unreleased(gateway.url, "two", "of/two", 3)
        with Client(sn_url(gateway), client_id="two", clean_start=False) as device:
            for payload in (b"1", b"2", b"3"):
                device.publish("of/two", payload, qos=2)
            device.flush()
        got = [reader.receive(TIMEOUT_S) for _ in range(6)]
    assert [message.payload for message in got if message] == [b"old"] * 3 + [b"1", b"2", b"3"]


def test_commands(gateway: Broker) -> None:
    """Do `pub` and `sub` speak it, with what else they can?"""
    url = sn_url(gateway)
    result = call("pub", "cli/t", "gr\u00fcn", "--retain", "--qos", "2", "--url", url)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    found = rows(call("sub", "cli/#", "--url", url, "--json", "-n", "1", "-t", "30", "--qos", "1"))
    assert found == [{"topic": "cli/t", "qos": 1, "retain": True, "payload": "gr\u00fcn"}]


def test_shell(gateway: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    """Do verbs in a shell?"""
    lines = b"connect d1\nsub shell/#\npub shell/t hello --qos 1\nwait\nclients\ndisconnect\n"
    who = Identity(None, None, None, None, None)
    assert run_script(io.BytesIO(lines), sn_url(gateway), TIMEOUT_S, who, as_json=True, keep_going=False) == 0
    out = capsys.readouterr().out
    assert json.loads(next(line for line in out.splitlines() if line.startswith("{")))["topic"] == "shell/t"


def test_will(gateway: Broker) -> None:
    """Is a client that goes without a word missed, and one that says goodbye not?"""
    with Client(gateway.url) as other:
        other.subscribe("will/#", qos=1)
        for name in ("polite", "lost"):
            will = Will(f"will/{name}", b"gone", qos=1)
            device = Client(sn_url(gateway), client_id=name, keep_alive_s=1, will=will).connect()
            if name == "polite":
                device.disconnect()
            else:
                device.abort()
        message = other.receive(TIMEOUT_S)
        assert message
        assert (message.topic, message.payload) == ("will/lost", b"gone")


def test_a_kept_session(gateway: Broker) -> None:
    """Does what comes meanwhile wait for a client that wants its session again?"""
    with Client(sn_url(gateway), client_id="kept", clean_start=False) as device:
        device.subscribe("kept/#", qos=2)
    with Client(gateway.url) as other:
        for number in range(3):
            other.publish("kept/t", b"%d" % number, qos=2)
        other.flush()
    with Client(sn_url(gateway), client_id="kept", clean_start=False) as device:
        came = [message.payload for _ in range(3) if (message := device.receive(TIMEOUT_S))]
        assert came == [b"0", b"1", b"2"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"version": 5}, r"MQTT 3\.1\.1.*give 4"),
        ({"username": "me", "password": "horse"}, "no user name and no password.*tls://"),
        ({"client_id": "x" * 24}, "24 characters.*1 to 23"),
        ({"will": Will("w", b"x" * 2000)}, "1232"),
        ({"session_expiry_s": 60}, "clean_start=False"),
    ],
)
def test_what_cannot_be_said_in_a_connect(gateway: Broker, options: dict[str, object], words: str) -> None:
    """Is it refused before anything is sent, with what to do, and without the password?"""
    with pytest.raises(ConfigError, match=words) as refused:
        Client(sn_url(gateway), **options).connect()  # type: ignore[arg-type]
    assert "horse" not in str(refused.value)


def test_what_fits_no_datagram(gateway: Broker) -> None:
    """Is a message that is too large refused where it is published, and the connection as it was?"""
    with Client(sn_url(gateway)) as device, Publisher(sn_url(gateway)) as publisher:
        for publish in (device.publish, publisher.publish):
            with pytest.raises(ConfigError, match=r"datagram of 1309 bytes.*at most 1232.*tcp://"):
                publish("a/b", b"x" * 1300)
            with pytest.raises(ConfigError, match="a topic of this length"):
                publish("t" * 1300, b"")
            publish("a/b", b"x" * 1200, qos=1)
        with pytest.raises(ConfigError, match="a filter of this length"):
            device.subscribe("t" * 1300)
        device.flush()
        publisher.flush()
    error = one_error(call("pub", "a/b", "x" * 1300, "--url", sn_url(gateway)))
    assert "1309" in error


def test_a_message_that_the_gateway_refuses(gateway: Broker) -> None:
    """Does its publisher hear of it, though MQTT 3.1.1 has no word for it, and do the others arrive?"""
    with Client(sn_url(gateway)) as device:
        for number in range(9):
            device.publish(f"many/{number}", b"", qos=1 + number % 2)
        with pytest.raises(RejectedError, match=re.escape("0x01 (congestion)")):
            device.flush()
        device.publish("many/0", b"", qos=2)
        device.flush()
    with Publisher(sn_url(gateway)) as publisher:
        for number in range(9):
            publisher.publish(f"many/{number}", b"", qos=1)
        with pytest.raises(RejectedError, match="many/8"):
            publisher.flush()


def test_nobody_there(gateway: Broker) -> None:
    """Is that said at once, and not after all retransmissions?"""
    with Broker(listen="tcp://127.0.0.1:0", listeners=[{"url": "sn://127.0.0.1:0"}]) as gone:
        url = sn_url(gone)
    with pytest.raises(ConnectError, match="cannot connect to sn://"):
        Client(url).connect()


def test_consumer_and_publisher_over_a_restart(until: Callable[[Callable[[], bool]], None]) -> None:
    """Do both connect again when the gateway is back, with everything that was published meanwhile?"""
    with Broker(listen="tcp://127.0.0.1:0", listeners=[{"url": "sn://127.0.0.1:0"}]) as first:
        url = sn_url(first)
        options: ConnectOptions = {"back_off_s": (0.02, 0.1), "timeout_s": TIMEOUT_S}
        publisher = Publisher(url, **options).connect()
        consumer = Consumer(url, "restart/#", qos=2, workers=2, **options).connect()
        for number in range(20):
            publisher.publish("restart/t", b"%d" % number, qos=2)
        messages = consumer.messages(TIMEOUT_S)
        assert [next(messages).payload for _ in range(20)] == [b"%d" % number for number in range(20)]
        publisher.flush(TIMEOUT_S)
    # Who only listens hears nothing of it before the next ping; who says something hears that nobody is there.
    consumer.alive()
    publisher.publish("restart/t", b"meanwhile", qos=1, retain=True)
    with Broker(listen="tcp://127.0.0.1:0", listeners=[{"url": url}]):
        publisher.flush(TIMEOUT_S)
        message = next(messages)
        assert (message.topic, message.payload) == ("restart/t", b"meanwhile")
        # A connection counts when its subscriptions are answered; a message may come before that.
        until(lambda: publisher.counters.connections == consumer.counters.connections == 2)
        consumer.close()
        publisher.close()


def test_the_broker_ends_it(gateway: Broker) -> None:
    """Is DISCONNECT of the gateway heard as the end that it is?"""
    with Client(sn_url(gateway), client_id="taken") as device, Client(gateway.url, client_id="taken"):
        with pytest.raises(LapwingError, match="DISCONNECT"):
            device.receive(TIMEOUT_S)
        device.abort()


def test_swarm(gateway: Broker) -> None:
    """Does a load over it arrive whole, and is what it cannot carry refused before anybody connects?"""
    load = ("--publishers", "3", "--rate", "60", "--seconds", "0.2", "--no-spin", "--url", sn_url(gateway))
    result = call("swarm", "p2p", *load, "--qos", "2", "--drain", "0.1", "--strict", "--json")
    assert result.returncode == 0, result.stderr
    assert rows(result)[0]["lost"] == 0
    asleep = call("swarm", "p2p", *load, "--qos", "1", "--sleep", "0.3", "--strict")
    assert (asleep.returncode, asleep.stderr) == (0, "")
    assert re.search(r"of these not drained\W+0\b", asleep.stdout), asleep.stdout
    assert "PINGRESP, from awaking" in asleep.stdout
    assert "sn://" in one_error(call("swarm", "p2p", *load[:-1], gateway.url, "--sleep", "1"))
    assert "MQTT 3.1.1" in one_error(call("swarm", "p2p", *load, "--version", "5"))
    assert "1232" in one_error(call("swarm", "p2p", *load, "--payload", "2000"))
