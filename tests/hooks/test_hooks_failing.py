"""Hooks that raise, block, are late, or call the broker themselves: nobody else may feel it."""

from __future__ import annotations

import json
import logging
import threading
import time
import warnings
from collections.abc import Callable

import pytest

import lapwing
from lapwing.errors import ConnectError, LapwingError
from lapwing.hooks import Connect, Hooks, Message, Refuse

Eventually = Callable[[Callable[[], object]], None]
Failures = Callable[[lapwing.Broker, str, str], float]
HOOK_FAILED = "0x83"


class Wrong(Hooks):
    """Does everything wrong, as the payload says."""

    def on_publish(self, message: Message) -> Message | Refuse | None:
        match message.payload:
            case b"raise":
                raise OSError("the database is gone")
            case b"exit":
                raise SystemExit(3)
            case b"type":
                return "yes"  # type: ignore[return-value]
            case b"field":
                return message.replace(topic=7)
            case b"topic":
                return message.replace(topic="a/#")
            case b"qos":
                return message.replace(qos=0)
            case b"code":
                return Refuse(0x8A)
            case b"number":
                return Refuse(0x00)
        return None


WRONGS = [b"raise", b"exit", b"type", b"field", b"topic", b"qos", b"code", b"number"]


@pytest.mark.parametrize("on_failure", ["refuse", "pass"])
def test_a_call_that_fails_meets_the_policy(
    on_failure: str, failures: Failures, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"on_failure": on_failure}
    with (
        lapwing.Broker(shards=2, hooks=Wrong(), hook_settings=settings) as broker,
        lapwing.Client(broker.url) as client,
        caplog.at_level(logging.ERROR, "lapwing.hooks"),
    ):
        for wrong in WRONGS:
            client.publish("t", wrong, qos=1)
            if on_failure == "pass":
                client.flush()
            else:
                with pytest.raises(LapwingError, match=HOOK_FAILED):
                    client.flush()
        client.publish("t", b"right", qos=1)
        client.flush()
        assert failures(broker, "on_publish", "failed") == len(WRONGS)
        dropped = broker.metrics()['lapwing_messages_dropped_total{reason="hook_failed"}']
        assert dropped == (len(WRONGS) if on_failure == "refuse" else 0)
    assert "the database is gone" in caplog.text, "the traceback is for whoever wrote the hook"


class Quoting(Hooks):
    """Refuses with words that its publisher chooses."""

    def on_publish(self, message: Message) -> Refuse | None:
        name = json.loads(message.payload)
        return None if name == "good" else Refuse(0x99, f"no such name: {name}")


@pytest.mark.parametrize("on_failure", ["refuse", "pass"])
@pytest.mark.parametrize(("name", "told"), [("bad", "bad"), (r"\ud800", "\ufffd"), (r"a\u0000b", "a\ufffdb")])
def test_a_refusal_stays_one_whatever_its_words(on_failure: str, name: str, told: str, failures: Failures) -> None:
    """Does a publisher get past a hook by what the hook quotes of it, or is sent what is no text of MQTT?"""
    with (
        lapwing.Broker(hooks=Quoting(), hook_settings={"on_failure": on_failure}) as broker,
        lapwing.Client(broker.url) as receiver,
        lapwing.Client(broker.url) as client,
    ):
        receiver.subscribe("t")
        client.publish("t", f'"{name}"', qos=1)
        with pytest.raises(LapwingError, match=f"0x99.*: no such name: {told}"):
            client.flush()
        client.publish("t", '"good"', qos=1)
        client.flush()
        received = receiver.receive(30)
        assert received is not None
        assert received.payload == b'"good"'
        assert failures(broker, "on_publish", "failed") == 0


class Blocking(Hooks):
    """Comes back when it is let."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let = threading.Event()

    def on_publish(self, message: Message) -> None:
        self.entered.set()
        self.let.wait()


@pytest.mark.parametrize("on_failure", ["refuse", "pass"])
def test_a_hook_that_blocks_holds_up_nobody_else(on_failure: str, failures: Failures) -> None:
    hooks = Blocking()
    broker = lapwing.Broker(shards=2, hooks=hooks, hook_settings={"timeout": "1s", "on_failure": on_failure}).start()
    try:
        client = lapwing.Client(broker.url, client_id="publisher").connect()
        client.publish("t", b"", qos=1)
        hooks.entered.wait()
        begun = time.monotonic()
        for n in range(50):
            with lapwing.Client(broker.url, client_id=f"other-{n}") as other:
                other.subscribe("t")
        assert time.monotonic() - begun < 30, "each of them waited"
        if on_failure == "pass":
            client.flush()
        else:
            with pytest.raises(LapwingError, match=HOOK_FAILED):
                client.flush()
        assert failures(broker, "on_publish", "late") == 1
        begun = time.monotonic()
        with pytest.warns(RuntimeWarning, match="a hook or a strategy did not return"):
            broker.stop()
        assert time.monotonic() - begun < 30
    finally:
        hooks.let.set()


def test_a_hook_that_comes_back_late_goes_on(failures: Failures, eventually: Eventually) -> None:
    hooks = Blocking()
    with (
        lapwing.Broker(hooks=hooks, hook_settings={"timeout": "1s"}) as broker,
        lapwing.Client(broker.url) as client,
    ):
        client.publish("t", b"", qos=1)
        with pytest.raises(LapwingError, match=HOOK_FAILED):
            client.flush()
        hooks.let.set()
        eventually(lambda: broker.metrics()['lapwing_hook_waiting{kind="decisions"}'] == 0)
        client.publish("t", b"", qos=1)
        client.flush()
        assert failures(broker, "on_publish", "late") == 1


class Echo(Hooks):
    """Publishes to its own broker from inside: the classic mistake."""

    def __init__(self) -> None:
        self.url = ""
        self.let = threading.Event()
        self.errors: list[LapwingError] = []

    def on_connect(self, connect: Connect) -> None:
        """Only so that the client below needs the hook thread, too."""

    def on_publish(self, message: Message) -> None:
        try:
            with lapwing.Client(self.url, client_id="inner", timeout_s=30) as inner:
                inner.publish("echo", b"", qos=1)
                inner.flush()
        except LapwingError as error:
            self.errors.append(error)
        self.let.wait()


def test_a_hook_that_calls_its_own_broker_is_late_and_nothing_else(failures: Failures, eventually: Eventually) -> None:
    hooks = Echo()
    with lapwing.Broker(shards=2, hooks=hooks, hook_settings={"timeout": "1s"}) as broker:
        hooks.url = broker.url
        with lapwing.Client(broker.url, client_id="outer") as client:
            client.publish("t", b"", qos=1)
            with pytest.raises(LapwingError, match=HOOK_FAILED):
                client.flush()
            client.subscribe("still/here")
            hooks.let.set()
            eventually(lambda: hooks.errors)
        assert failures(broker, "on_publish", "late") >= 1
    assert isinstance(hooks.errors[0], ConnectError), "its client could not be judged while it was waited for"


def test_a_slow_hook_stops_in_order() -> None:
    """Is what waits finished when the broker stops, and without a warning?"""

    class Counting(Hooks):
        seen = 0

        def on_published(self, messages: object) -> None:
            assert isinstance(messages, list)
            self.seen += len(messages)

    hooks = Counting()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with lapwing.Broker(hooks=hooks) as broker, lapwing.Client(broker.url) as client:
            for _ in range(5000):
                client.publish("t", b"", qos=1, hold=True)
            client.flush()
    assert hooks.seen == 5000
