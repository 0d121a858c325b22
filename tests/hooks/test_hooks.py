"""Hooks written in Python, with real clients: what they see, what they change, what they refuse."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import paho.mqtt.client as paho
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

import lapwing
from lapwing.client import Will
from lapwing.errors import ConnectError, LapwingError
from lapwing.hooks import (
    Admit,
    Connect,
    Connected,
    Disconnected,
    Hooks,
    Message,
    Refuse,
    Subscribed,
    Subscription,
    Unsubscribed,
)

Eventually = Callable[[Callable[[], object]], None]


class Mapper(Hooks):
    """Changes, refuses, passes."""

    def __init__(self) -> None:
        self.seen: list[Message] = []
        self.threads: set[str] = set()

    def on_publish(self, message: Message) -> Message | Refuse | None:
        self.seen.append(message)
        self.threads.add(threading.current_thread().name)
        if message.topic == "no":
            return Refuse(0x99, "not like this")
        if message.topic == "old":
            pairs = (*message.user_properties, ("from", message.client.client_id))
            return message.replace(topic="new", payload=message.payload.upper(), retain=True, user_properties=pairs)
        return None


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_message_is_passed_changed_or_refused(version: int, qos: int) -> None:
    hooks = Mapper()
    with (
        lapwing.Broker(shards=2, hooks=hooks) as broker,
        lapwing.Client(broker.url) as receiver,
        lapwing.Client(broker.url, client_id="sender", version=version) as sender,
    ):
        receiver.subscribe("#")
        sender.publish("no", b"1", qos=qos)
        if version == 5 and qos > 0:
            with pytest.raises(LapwingError, match="0x99"):
                sender.flush()
        for topic in ("old", "yes", "end"):
            sender.publish(topic, b"abc", qos=qos)
        sender.flush()
        changed, passed, end = (receiver.receive(30) for _ in range(3))
        assert changed is not None
        assert passed is not None
        assert end is not None
        assert (changed.topic, changed.payload, changed.user_properties) == ("new", b"ABC", [("from", "sender")])
        assert (passed.topic, passed.payload) == ("yes", b"abc")
        assert end.topic == "end"
        assert broker.metrics()['lapwing_messages_dropped_total{reason="hook_refused"}'] == 1
    assert [message.topic for message in hooks.seen] == ["no", "old", "yes", "end"]
    assert {(message.qos, message.client.version) for message in hooks.seen} == {(qos, version)}
    assert len(hooks.threads) == 1
    assert threading.current_thread().name not in hooks.threads


def test_every_property_is_seen_and_kept() -> None:
    class Touch(Hooks):
        def on_publish(self, message: Message) -> Message:
            seen.append(message)
            return message.replace(payload=message.payload + b"!")

    seen: list[Message] = []
    with lapwing.Broker(hooks=Touch()) as broker, lapwing.Client(broker.url, client_id="one") as client:
        client.subscribe("t")
        client.publish(
            "t",
            b"1",
            qos=1,
            user_properties=[("k", "1"), ("k", "2")],
            content_type="text/plain",
            response_topic="r",
            correlation_data=b"\0c",
            message_expiry_s=60,
        )
        received = client.receive(30)
        assert received is not None
        assert received.payload == b"1!"
        assert received.user_properties == [("k", "1"), ("k", "2")]
        assert (received.content_type, received.response_topic) == ("text/plain", "r")
        assert (received.correlation_data, received.message_expiry_s) == (b"\0c", 60)
    assert seen[0].user_properties == (("k", "1"), ("k", "2"))
    assert (seen[0].correlation_data, seen[0].message_expiry_s, seen[0].is_will) == (b"\0c", 60, False)


def test_a_topic_alias_is_resolved_for_a_hook() -> None:
    hooks = Mapper()
    with lapwing.Broker(shards=1, hooks=hooks) as broker:
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        client.connect("127.0.0.1", int(broker.url.rpartition(":")[2]))
        client.loop_start()
        properties = Properties(PacketTypes.PUBLISH)
        properties.TopicAlias = 1
        for topic in ("long/topic", "", ""):
            client.publish(topic, b"", qos=1, properties=properties).wait_for_publish(30)
        client.disconnect()
        client.loop_stop()
    assert [message.topic for message in hooks.seen] == ["long/topic"] * 3


class Door(Hooks):
    """Lets in who knows the word; says who is who."""

    def __init__(self) -> None:
        self.asked: list[Connect] = []
        self.came: list[Connected] = []

    def on_connect(self, connect: Connect) -> Admit | Refuse | None:
        self.asked.append(connect)
        if connect.username is None:
            return None
        return Admit(connect.username) if connect.password == b"word" else Refuse(0x86, "wrong word")

    def on_connected(self, events: Sequence[Connected]) -> None:
        self.came += events


@pytest.mark.parametrize("version", [4, 5])
def test_a_client_is_admitted_or_refused(version: int, eventually: Eventually) -> None:
    door = Door()
    with lapwing.Broker(shards=2, hooks=door) as broker:
        with lapwing.Client(broker.url, client_id="a", version=version, username="ann", password="word"):
            pass
        with lapwing.Client(broker.url, client_id="b", version=version, will=Will("w", b"gone", qos=1)):
            pass
        with pytest.raises(ConnectError):
            lapwing.Client(broker.url, client_id="c", version=version, username="ann", password="x").connect()
        eventually(lambda: len(door.came) == 2)
    assert {(event.client.client_id, event.client.identity) for event in door.came} == {("a", "ann"), ("b", None)}
    will = door.asked[1].will
    assert will is not None
    assert (will.topic, will.payload, will.qos, will.client.client_id) == ("w", b"gone", 1, "b")
    assert "word" not in repr(door.asked[0]), "a password has no place in a log"


def test_a_refused_client_is_told_why() -> None:
    with lapwing.Broker(hooks=Door()) as broker:
        answers: list[tuple[ReasonCode, str]] = []
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        client.username_pw_set("ann", "x")
        client.on_connect = lambda _client, _data, _flags, reason, properties: answers.append(
            (reason, getattr(properties, "ReasonString", ""))
        )
        client.connect("127.0.0.1", int(broker.url.rpartition(":")[2]))
        while not answers:
            client.loop(10)
    assert [(reason.value, text) for reason, text in answers] == [(0x86, "wrong word")]


class Librarian(Hooks):
    """One filter is for nobody, one for QoS 0 only."""

    def on_subscribe(self, subscription: Subscription) -> Subscription | Refuse | None:
        if subscription.filter.startswith("secret/"):
            return Refuse()
        return subscription.replace(qos=0) if subscription.filter == "low" else None


def test_each_filter_is_judged_for_itself() -> None:
    with lapwing.Broker(hooks=Librarian()) as broker:
        granted: list[int] = []
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        client.on_subscribe = lambda _client, _data, _id, reasons, _properties: granted.extend(
            reason.value for reason in reasons
        )
        client.on_connect = lambda *_: client.subscribe([("secret/#", 1), ("low", 2), ("high", 2)])
        client.connect("127.0.0.1", int(broker.url.rpartition(":")[2]))
        while not granted:
            assert client.loop(10) == paho.MQTT_ERR_SUCCESS
        assert granted == [0x87, 0, 2]


class Talkative(Hooks):
    """Refuses with words."""

    def on_publish(self, message: Message) -> Refuse:
        return Refuse(0x99, f"no {message.topic}")

    def on_subscribe(self, subscription: Subscription) -> Refuse | None:
        return None if subscription.filter == "b" else Refuse(0x87, f"not {subscription.filter}")


def test_words_reach_the_client() -> None:
    """In PUBACK and SUBACK, as a Reason String; several filters behind each other (paho looks at no PUBREC)."""
    with lapwing.Broker(hooks=Talkative()) as broker:
        heard: list[str] = []
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        client.on_subscribe = lambda _client, _data, _id, _reasons, said: heard.append(said.ReasonString)
        client.on_publish = lambda _client, _data, _id, _reason, said: heard.append(said.ReasonString)

        def begin(*_: object) -> None:
            client.subscribe([("a", 1), ("b", 1), ("c", 1)])
            client.publish("one", b"", 1)

        client.on_connect = begin
        client.connect("127.0.0.1", int(broker.url.rpartition(":")[2]))
        while len(heard) < 2:
            assert client.loop(10) == paho.MQTT_ERR_SUCCESS
        assert heard == ["not a; not c", "no one"]


class Diary(Hooks):
    """Writes down what has happened."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def on_connected(self, events: Sequence[Connected]) -> None:
        self.lines += [f"+{event.client.client_id}" for event in events]

    def on_disconnected(self, events: Sequence[Disconnected]) -> None:
        self.lines += [f"-{event.client.client_id} {event.reason_code}" for event in events]

    def on_subscribed(self, events: Sequence[Subscribed]) -> None:
        self.lines += [f"subscribed {event.filter} {event.qos}" for event in events]

    def on_unsubscribed(self, events: Sequence[Unsubscribed]) -> None:
        self.lines += [f"unsubscribed {event.filter}" for event in events]

    def on_published(self, messages: Sequence[Message]) -> None:
        self.lines += [f"published {message.topic} {'will' if message.is_will else ''}".strip() for message in messages]


def test_what_happened_is_told_in_order(eventually: Eventually) -> None:
    diary = Diary()
    with lapwing.Broker(shards=1, hooks=diary) as broker:
        for _ in range(2):
            with lapwing.Client(broker.url, client_id="a") as client:
                client.subscribe("t", qos=1)
                client.publish("t", b"", qos=1)
                client.unsubscribe("t")
        client = lapwing.Client(broker.url, client_id="b", will=Will("w", b"")).connect()
        client.abort()
        once = ["+a", "subscribed t 1", "published t", "unsubscribed t", "-a 0"]
        eventually(lambda: len(diary.lines) == 2 * len(once) + 3)
    assert diary.lines[:-3] == once * 2
    assert diary.lines[-3:] == ["+b", "-b None", "published w"]
