"""Who has published a message: told to clients that ask and may, as the broker knows it."""

from __future__ import annotations

import json
import time
from pathlib import Path

import paho.mqtt.client as paho
import pytest
from told import NAMES, Told, envelope, others, user_properties
from wire import PUBLISH, Wire, name_on, publish, until

import lapwing
from lapwing._core import hash_password
from lapwing.auth import User, update_users
from lapwing.hooks import Hooks, Message

BOTH = pytest.mark.parametrize("shards", [1, 2])
FORGED = tuple((name, "forged") for name in NAMES)
STAMP = ("lapwing-stamp", "1 f.f f.0.1 1 somebody-else")
"""What a publisher would write that knows how the broker writes down what it knows."""


@BOTH
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_who_asks_is_told(shards: int, qos: int) -> None:
    """Over lanes between shards too; the QoS is that of the PUBLISH, whatever the subscription has."""
    with (
        lapwing.Broker(shards=shards) as broker,
        Told(broker.url, name_on(0, 2, "a")) as here,
        Told(broker.url, name_on(1, 2, "b")) as there,
        Told(broker.url, name_on(0, 2, "device"), asks=None) as device,
    ):
        assert (here.answer, there.answer, device.answer) == ("granted", "granted", None)
        here.subscribe("t/#", qos=0)
        there.subscribe("t/#", qos=2)
        before_us = time.time_ns() // 1000
        for _ in range(3):
            device.publish("t/a", b"x", ("k", "v"), ("k", "w"), qos=qos)
        seen = [[receiver.take() for _ in range(3)] for receiver in (here, there)]
        after_us = time.time_ns() // 1000
        ids = [[envelope(message)["lapwing-message-id"] for message in messages] for messages in seen]
        assert ids[0] == ids[1]
        assert len(set(ids[0])) == 3
        for message in seen[0] + seen[1]:
            said = envelope(message)
            assert set(said) == set(NAMES)
            assert said["lapwing-client"] == name_on(0, 2, "device")
            assert said["lapwing-qos"] == str(qos)
            assert before_us <= int(said["lapwing-ingress-us"]) <= after_us
            assert others(message) == [("k", "v"), ("k", "w")]
        assert len({envelope(message)["lapwing-session"] for message in seen[0]}) == 1


def test_nothing_of_it_can_be_forged() -> None:
    """Before anybody asks and after; who does not ask gets what the publisher has sent, but for a made-up stamp."""
    with (
        lapwing.Broker(shards=2) as broker,
        Told(broker.url, "device", asks=None) as device,
        Told(broker.url, "plain", asks=None).subscribe("t") as plain,
    ):
        device.publish("t", b"0", STAMP, *FORGED)
        assert user_properties(plain.take()) == list(FORGED)
        with Told(broker.url, "told").subscribe("t") as told:
            device.publish("t", b"1", *FORGED, ("k", "v"))
            device.publish("t", b"2", STAMP, ("k", "v"))
            device.publish("t", b"3", ("k", "v"), STAMP)
            assert user_properties(plain.take()) == [*FORGED, ("k", "v")]
            assert user_properties(plain.take()) == [("k", "v")]
            for _ in range(2):
                message = told.take()
                assert envelope(message)["lapwing-client"] == "device"
                assert others(message) == [("k", "v")]
            assert envelope(told.take())["lapwing-client"] == "device"


def test_a_client_of_3_1_1_and_one_with_aliases_get_the_same_messages() -> None:
    with (
        lapwing.Broker(shards=1) as broker,
        Told(broker.url, "told").subscribe("t"),
        Wire.client(broker.url, "old", version=4) as old,
        Wire.client(broker.url, "device") as device,
    ):
        old.subscribe("t")
        device.send(publish("t", b"x"))
        found = old.expect(PUBLISH)
        assert (found.topic, found.payload) == ("t", b"x")


def test_hooks_and_streams_have_the_message_as_it_was_published() -> None:
    seen: list[Message] = []

    class Watch(Hooks):
        def on_publish(self, message: Message) -> Message:
            return message.replace(user_properties=(STAMP, *message.user_properties, ("hook", "h")))

        def on_published(self, messages: list[Message]) -> None:
            seen.extend(messages)

    with (
        lapwing.Broker(shards=1, hooks=Watch()) as broker,
        Told(broker.url, "told").subscribe("t") as told,
        Told(broker.url, "device", asks=None) as device,
    ):
        device.publish("t", b"x", ("k", "v"))
        message = told.take()
        assert envelope(message)["lapwing-client"] == "device"
        assert others(message) == [("k", "v"), ("hook", "h")]


@BOTH
def test_a_retained_message_a_will_and_a_dead_letter_say_who_it_was(shards: int) -> None:
    """A miss names its message as whoever is told of publishers sees it."""
    groups = {"g": {"filters": ["t"], "expired": "dead-letter", "dead_letter_topic": "dead", "missed_topic": "missed"}}
    with lapwing.Broker(shards=shards, groups=groups) as broker, Told(broker.url, "told") as told:
        with Told(broker.url, "device", asks=None) as device:
            device.publish("retained", b"x", retain=True)
            told.subscribe("retained", "will", "dead", "missed")
            assert envelope(told.take())["lapwing-client"] == "device"
            device.publish("t", b"late", ("lapwing-deadline-ms", "1"))
            ended = {message.topic: message for message in (told.take(), told.take())}
            letter = ended["dead"]
            assert json.loads(ended["missed"].payload)["message_id"] == envelope(letter)["lapwing-message-id"]
            assert (letter.topic, envelope(letter)["lapwing-client"]) == ("dead", "device")
            assert dict(others(letter))["lapwing-topic"] == "t"
        Told(broker.url, "mortal", asks=None, will=("will", b"gone")).breaks()
        assert envelope(told.take())["lapwing-client"] == "mortal"


def test_a_session_has_one_name_and_the_next_one_another() -> None:
    def session(client_id: str, expiry_s: int) -> str:
        with Told(broker.url, client_id, asks=None, expiry_s=expiry_s) as device:
            device.publish("t")
        return envelope(told.take())["lapwing-session"]

    with lapwing.Broker(shards=2) as broker, Told(broker.url, "told").subscribe("t") as told:
        first, second = (session("a", 60) for _ in range(2))
        third, fourth = (session("b", 0) for _ in range(2))
        assert first == second
        assert len({first, third, fourth}) == 3


def test_what_was_published_before_anybody_asked() -> None:
    """By default it says nothing; with `always` it does; with `never` nobody is told."""
    for stamp, answer, names in (
        ("asked", "granted", set()),
        ("always", "granted", set(NAMES)),
        ("never", "refused", set()),
    ):
        with lapwing.Broker(shards=1, envelope={"stamp": stamp}) as broker:
            with Told(broker.url, "device", asks=None) as device:
                device.publish("t", b"x", retain=True)
            with Told(broker.url, "told") as told:
                assert told.answer == answer
                assert set(envelope(told.subscribe("t").take())) == names


def test_without_a_right_the_rest_goes_on(tmp_path: Path) -> None:
    """And a right that is taken away ends with the next message."""
    users = tmp_path / "users.toml"
    with update_users(users) as known:
        for name in ("bridge", "eve"):
            known[name] = User(name, hash_password(b"secret"))
    topics = {"identity": "*", "may": ["publish", "subscribe"], "topics": ["#"]}
    rules = [topics, {"identity": "bridge", "may": ["envelope"]}]
    with (
        lapwing.Broker(shards=1, users=users, rules=rules) as broker,
        Told(broker.url, "a", username="bridge").subscribe("t") as bridge,
        Told(broker.url, "b", username="eve").subscribe("t") as eve,
    ):
        assert (bridge.answer, eve.answer) == ("granted", "refused")
        assert broker.metrics()['lapwing_not_authorized_total{what="envelope"}'] == 1
        eve.publish("t")
        assert set(envelope(bridge.take())) == set(NAMES)
        assert user_properties(eve.take()) == []
        broker.reload(broker.config.model_copy(update={"rules": [broker.config.rules[0]]}))
        eve.publish("t")
        assert user_properties(bridge.take()) == []


def test_what_cannot_be_read_is_no_question() -> None:
    with lapwing.Broker(shards=1) as broker:
        for asks, answer in (("yes", None), ("0", None), ("1", "granted")):
            with Told(broker.url, "c", asks=asks) as client:
                assert client.answer == answer
        assert broker.metrics()["lapwing_signals_ignored_total"] == 1


def test_a_small_client_is_told_without_a_word() -> None:
    """A CONNACK that keeps to the client's Maximum Packet Size has no room for the answer [MQTT-3.2.2-20]."""
    with (
        lapwing.Broker(shards=1) as broker,
        Told(broker.url, "small", packet_bytes_max=40) as small,
        Told(broker.url, "large") as large,
    ):
        assert small.answer is None
        small.subscribe("t")
        large.subscribe("t")
        small.publish("t", b"x")
        assert large.take().payload == b"x"
        until(lambda: broker.metrics()['lapwing_messages_dropped_total{reason="packet_too_large"}'] == 1)


def test_paho_of_3_1_1_cannot_ask() -> None:
    with lapwing.Broker(shards=1) as broker:
        port = int(broker.url.rpartition(":")[2])
        client = paho.Client(paho.CallbackAPIVersion.VERSION2, "old", protocol=paho.MQTTv311)
        assert client.connect("127.0.0.1", port) == paho.MQTT_ERR_SUCCESS
        client.disconnect()
