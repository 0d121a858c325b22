"""What a consumer says to a broker, and when: against a scripted one, packet by packet."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import scripted as s
from scripted import ScriptedBroker
from threads import Threads

from lapwing.client import Consumer, Delivery
from lapwing.errors import ConfigError, ConnectError, LapwingError

Until = Callable[[Callable[[], bool]], None]


def test_what_it_is_stands_in_connect(scripted: ScriptedBroker, pool: Threads) -> None:
    consumer = Consumer(scripted.url, "a/#", group="g", workers=3, batch=50, probe_ms=250)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        said = {name: client.connect.user(f"lapwing-{name}") for name in ("ack", "workers", "batch", "probe")}
        assert said == {"ack": "processed", "workers": "3", "batch": "50", "probe": "250"}
        client.accept()
        assert client.grant().says("$share/g/a/#")
        connected.result(s.TIMEOUT_S)
        consumer.abort()


def test_acknowledged_when_the_work_is_done(scripted: ScriptedBroker, pool: Threads) -> None:
    """Is there no PUBACK while the handler runs, and one with a report after it?"""
    begun, go_on = threading.Event(), threading.Event()

    def work(_: Delivery) -> None:
        begun.set()
        assert go_on.wait(s.TIMEOUT_S)

    consumer = Consumer(scripted.url, "a")
    running = pool.submit(consumer.run, work)
    with scripted.next() as client:
        client.accept()
        client.grant()
        client.publish("a", b"1", packet_id=7)
        client.publish("a", b"2", packet_id=8)
        assert begun.wait(s.TIMEOUT_S)
        assert client.is_silent()
        go_on.set()
        first = client.read()
        assert (first.kind, first.packet_id, first.reason) == (s.PUBACK, 7, 0)
        assert first.user("lapwing-queue") in ("0", "1")
        assert int(first.user("lapwing-service-us") or 0) > 90_000
        assert first.user("lapwing-watermark") == "low"
        assert client.read_until(s.PUBACK).packet_id == 8
        consumer.close()
        client.read_until(s.DISCONNECT)
    running.result(s.TIMEOUT_S)


def test_a_handler_that_raises_refuses(scripted: ScriptedBroker, pool: Threads) -> None:
    def work(message: Delivery) -> None:
        if message.payload == b"bad":
            raise ValueError("not a picture")

    consumer = Consumer(scripted.url, "a", report=False)
    running = pool.submit(consumer.run, work)
    with scripted.next() as client:
        client.accept()
        client.grant()
        client.publish("a", b"bad", packet_id=1)
        refused = client.read()
        assert (refused.kind, refused.packet_id, refused.reason) == (s.PUBACK, 1, 0x80)
        assert refused.says("ValueError: not a picture")
        client.publish("a", b"good", packet_id=2)
        done = client.read()
        assert (done.packet_id, done.reason, len(done.body)) == (2, 0, 2)
        assert (consumer.counters.refused, consumer.counters.processed) == (1, 1)
        consumer.close()
    running.result(s.TIMEOUT_S)


class WordlessError(Exception):
    """As one whose ``__str__`` reads what was never set."""

    def __str__(self) -> str:
        raise AttributeError("camera")


@pytest.mark.parametrize("workers", [1, 2])
def test_no_words_of_a_handler_end_the_consumer(
    scripted: ScriptedBroker, pool: Threads, caplog: pytest.LogCaptureFixture, workers: int
) -> None:
    """Half of a surrogate pair (JSON has it) and no words at all ended `run`; a text of MQTT has no U+0000 either."""
    caplog.set_level("CRITICAL", "lapwing.client")  # what pytest keeps of a log cannot have such halves
    errors = {
        b"half": (ValueError("unknown \ud800"), rb"ValueError: unknown \ud800"),
        b"nul": (ValueError("unknown \0"), b"ValueError: unknown  "),
        b"none": (WordlessError(), b"WordlessError: its words failed with AttributeError"),
    }

    def work(message: Delivery) -> None:
        raise errors[message.payload][0]

    consumer = Consumer(scripted.url, "a", report=False, workers=workers)
    running = pool.submit(consumer.run, work)
    with scripted.next() as client:
        client.accept()
        client.grant()
        for payload, (_, words) in errors.items():
            client.publish("a", payload, packet_id=1)
            refused = client.read()
            assert (refused.kind, refused.reason) == (s.PUBACK, 0x80)
            assert words in refused.body
        consumer.close()
    running.result(s.TIMEOUT_S)


def test_a_refusal_by_hand_takes_any_words(scripted: ScriptedBroker, pool: Threads) -> None:
    consumer = Consumer(scripted.url, "a", report=False)
    first = pool.submit(lambda: next(iter(consumer)))
    with scripted.next() as client:
        client.accept()
        client.grant()
        client.publish("a", b"1", packet_id=1)
        consumer.refuse(first.result(s.TIMEOUT_S), "no camera \udfff")
        assert rb"no camera \udfff" in client.read().body
        consumer.abort()


def test_on_error_stop_leaves_the_message(scripted: ScriptedBroker, pool: Threads) -> None:
    """Does the error come out of run, and is its message not answered?"""

    def work(_: Delivery) -> None:
        raise ValueError("stop here")

    consumer = Consumer(scripted.url, "a", on_error="stop", workers=2, report=False)
    running = pool.submit(consumer.run, work)
    with scripted.next() as client:
        client.accept()
        client.grant()
        client.publish("a", b"1", packet_id=1)
        with pytest.raises(ValueError, match="stop here"):
            running.result(s.TIMEOUT_S)
        consumer.close()
        assert client.read().kind == s.DISCONNECT


def test_refused_by_hand(scripted: ScriptedBroker, pool: Threads) -> None:
    consumer = Consumer(scripted.url, "a", qos=2, report=False)
    first = pool.submit(lambda: next(iter(consumer)))
    with scripted.next() as client:
        client.accept()
        client.grant(2)
        client.publish("a", b"1", qos=2, packet_id=3)
        message = first.result(s.TIMEOUT_S)
        with pytest.raises(ConfigError, match="0x80"):
            consumer.refuse(message, code=0x10)
        consumer.refuse(message, "no such camera", code=0x99)
        answer = client.read()
        assert (answer.kind, answer.packet_id, answer.reason) == (s.PUBREC, 3, 0x99)
        # The exchange is over: the same packet id is a new message.
        client.publish("a", b"2", qos=2, packet_id=3)
        assert next(consumer.messages()).payload == b"2"
        consumer.abort()


def test_qos_2_is_received_when_the_work_is_done(scripted: ScriptedBroker, pool: Threads) -> None:
    """PUBREC after the work, a repeat meanwhile not shown, the report in PUBCOMP."""
    go_on = threading.Event()
    consumer = Consumer(scripted.url, "a", qos=2)
    running = pool.submit(consumer.run, lambda _: go_on.wait(s.TIMEOUT_S))
    with scripted.next() as client:
        client.accept()
        client.grant(2)
        client.publish("a", b"1", qos=2, packet_id=3)
        client.publish("a", b"1", qos=2, packet_id=3, dup=True)
        assert client.is_silent()
        go_on.set()
        assert client.read_until(s.PUBREC).packet_id == 3
        client.send(b"\x62\x02\x00\x03")
        done = client.read()
        assert (done.kind, done.packet_id) == (s.PUBCOMP, 3)
        assert done.user("lapwing-queue") == "0"
        consumer.close()
    running.result(s.TIMEOUT_S)
    assert consumer.counters.received == 1


def test_marks_are_told_unprompted(scripted: ScriptedBroker, pool: Threads, until: Until) -> None:
    consumer = Consumer(scripted.url, "a", high=3, low=1)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant()
        connected.result(s.TIMEOUT_S)
        for packet_id in (1, 2, 3):
            client.publish("a", b"m", packet_id=packet_id)
        high = client.read()
        assert high.kind == s.PUBLISH
        assert high.says("$lapwing/report")
        assert b'{"queue":3,"rate_per_s":0,"watermark":"high"}' in high.body
        messages = iter(consumer)
        next(messages), next(messages)
        low = client.read_until(s.PUBLISH)
        assert b'"watermark":"low"' in low.body
        assert consumer.counters.reports == 2
        consumer.abort()


def test_long_work_says_that_it_goes_on(scripted: ScriptedBroker, pool: Threads) -> None:
    heard = threading.Event()

    def work(_: Delivery) -> None:
        consumer.alive()
        assert heard.wait(s.TIMEOUT_S)

    consumer = Consumer(scripted.url, "a")
    running = pool.submit(consumer.run, work)
    with scripted.next() as client:
        client.accept()
        client.grant()
        client.publish("a", b"1")
        report = client.read()
        assert (report.kind, report.says("$lapwing/report")) == (s.PUBLISH, True)
        assert b'"queue":1,' in report.body, "what is in work counts"
        heard.set()
        assert client.read().kind == s.PUBACK
        consumer.close()
    running.result(s.TIMEOUT_S)


def test_a_probe_is_answered_and_not_shown(scripted: ScriptedBroker, pool: Threads) -> None:
    consumer = Consumer(scripted.url, "#", qos=0, probe_ms=100)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant(0)
        connected.result(s.TIMEOUT_S)
        client.publish("$lapwing/probe/x", b'{"probe": 65535}', qos=0)
        answer = client.read()
        assert answer.says("$lapwing/report")
        assert b'"probe":65535' in answer.body
        client.publish("a", b"shown", qos=0)
        assert next(consumer.messages()).payload == b"shown"
        consumer.abort()


def test_a_consumer_of_3_1_1_declares_by_a_report(scripted: ScriptedBroker, pool: Threads) -> None:
    consumer = Consumer(scripted.url, "a", version=4, workers=2)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.send(b"\x20\x02\x00\x00")
        packet = client.read_until(s.SUBSCRIBE)
        client.send(b"\x90\x03" + packet.body[:2] + b"\x01")
        connected.result(s.TIMEOUT_S)
        assert b'{"ack": "processed", "workers": 2}' in client.read_until(s.PUBLISH).body
        consumer.abort()


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"workers": 0}, "workers = 0"),
        ({"group": "a/b"}, "group"),
        ({"ack": "never"}, "ack"),
        ({"high": 5, "low": 5}, "low = 5"),
        ({"probe_ms": 1}, "probe_ms"),
        ({"version": 3}, "version"),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, object], wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        Consumer("tcp://127.0.0.1:1", "a", **arguments).connect()  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="nonsense"):
        Consumer("tcp://127.0.0.1:1", "a", nonsense=1)  # type: ignore[call-arg]


def test_a_refused_subscription_is_an_error(scripted: ScriptedBroker, pool: Threads) -> None:
    connected = pool.submit(Consumer(scripted.url, "secret/#").connect)
    with scripted.next() as client:
        client.accept()
        client.grant(0x87)
        with pytest.raises(LapwingError, match=r'subscription to "secret/#" was refused: Not authorized'):
            connected.result(s.TIMEOUT_S)


def test_nobody_there(scripted: ScriptedBroker) -> None:
    scripted.close()
    with pytest.raises(ConnectError, match=scripted.url):
        Consumer(scripted.url, "a", timeout_s=30.0).connect()


def test_a_session_taken_up_is_subscribed_once_connect_returns(scripted: ScriptedBroker, pool: Threads) -> None:
    """The process before may have subscribed to something else: what was published then was never delivered."""
    consumer = Consumer(scripted.url, "a", client_id="c", session_expiry_s=60, report=False)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept(session_present=True)
        client.publish("b", b"1", packet_id=1)
        with pytest.raises(TimeoutError):
            connected.result(0.3)
        client.grant()
        connected.result(s.TIMEOUT_S)
        assert next(consumer.messages()).payload == b"1"
        consumer.abort()


def test_a_session_taken_up_whose_messages_leave_no_room_for_suback(scripted: ScriptedBroker, pool: Threads) -> None:
    """SUBACK comes behind them, and nothing more is read until somebody takes some."""
    consumer = Consumer(scripted.url, "a", client_id="c", session_expiry_s=60, report=False, high=2, low=1)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept(session_present=True)
        for number in range(6):
            client.publish("b", b"%d" % number, packet_id=number + 1)
        client.grant()
        connected.result(s.TIMEOUT_S)
        messages = consumer.messages()
        assert [next(messages).payload for _ in range(6)] == [b"%d" % number for number in range(6)]
        consumer.abort()
