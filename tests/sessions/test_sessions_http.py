"""`/v1/sessions` and `/v1/queues` of a real broker: who is there, what waits for them, and its end by order."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit

import paho.mqtt.client as paho
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from web import Response, get

from lapwing import Broker, Client
from lapwing.client import Will

DEADLINE_S = 30
pytestmark = pytest.mark.lapwing(http="127.0.0.1:0")
Publish = Callable[[str, list[tuple[str, bytes]]], None]


def ask(broker: Broker, path: str, method: str = "GET", **query: object) -> Response:
    return get(f"{broker.http_url}/v1/{path}", query, method=method)


def leave(broker: Broker, name: str, *filters: str) -> None:
    """A session that stays while its client is away; the broker knows that it is: what comes now goes to the queue."""
    with Client(broker.url, client_id=name, clean_start=False, session_expiry_s=600) as client:
        for filter_ in filters:
            client.subscribe(filter_, qos=1)
    until(lambda: not session(broker, name)["is_connected"])


def session(broker: Broker, name: str) -> dict[str, Any]:
    answer = ask(broker, f"sessions/{quote(name, safe='')}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def names(answer: Response, kind: str = "sessions") -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["client_id"] for row in answer.json()[kind]]


def waits(broker: Broker, name: str, messages: int) -> None:
    """Until so many wait for a client."""
    until(lambda: session(broker, name)["waiting_messages"] == messages)


def test_sessions_are_listed_page_by_page(lapwing_broker: Broker) -> None:
    for number in range(7):
        leave(lapwing_broker, f"device-{number}")
    with Client(lapwing_broker.url, client_id="here"):
        first = ask(lapwing_broker, "sessions", prefix="device-", limit=4)
        assert names(first) == [f"device-{number}" for number in range(4)]
        assert (first.json()["matching"], first.json()["next"]) == (7, "device-3")
        second = ask(lapwing_broker, "sessions", prefix="device-", limit=4, after="device-3")
        assert (names(second), second.json()["next"]) == ([f"device-{number}" for number in range(4, 7)], None)
        assert names(ask(lapwing_broker, "sessions", state="connected")) == ["here"]
        assert len(names(ask(lapwing_broker, "sessions", state="away"))) == 7


def test_a_row_tells_what_an_operator_asks(lapwing_broker: Broker, publish: Publish) -> None:
    """Of one that is here and of one that is away: version, address, times, what waits and is under way."""
    with Client(lapwing_broker.url, client_id="here", version=4) as here:
        here.subscribe("t", qos=1)
        (row,) = ask(lapwing_broker, "sessions").json()["sessions"]
        assert (row["is_connected"], row["version"], row["subscriptions"]) == (True, "3.1.1", 1)
        assert row["address"].startswith("127.0.0.1:")
        assert (row["away_since"], row["expiry_s"], row["ends_in_s"], row["user"]) == (None, 0, None, None)
    leave(lapwing_broker, "away", "t")
    publish(lapwing_broker.url, [("t", b"x"), ("t", b"y")])
    waits(lapwing_broker, "away", 2)
    row = ask(lapwing_broker, "sessions/away").json()
    assert (row["is_connected"], row["version"], row["address"]) == (False, None, None)
    age = datetime.now(UTC) - datetime.fromisoformat(row["away_since"])
    assert timedelta(seconds=-1) < age < timedelta(seconds=DEADLINE_S)
    assert 570 <= row["ends_in_s"] <= row["expiry_s"] == 600
    assert row["waiting_bytes"] > 2
    assert row["is_durable"] is False, "this broker keeps nothing on disk"


def test_one_session_with_a_slash_in_its_name(lapwing_broker: Broker, publish: Publish) -> None:
    name = "site 1/device?7%"
    leave(lapwing_broker, name, "a", "b/#")
    publish(lapwing_broker.url, [("a", b"secret"), ("b/c", b"secret")])
    waits(lapwing_broker, name, 2)
    answer = ask(lapwing_broker, f"sessions/{quote(name, safe='')}", head=1)
    session = answer.json()
    assert session["client_id"] == name
    assert [subscription["filter"] for subscription in session["subscribed"]] == ["a", "b/#"]
    (message,) = session["queue"]
    assert (message["topic"], message["qos"], message["age_ms"], message["is_of_group"]) == ("a", 1, None, False)
    assert "secret" not in answer.text
    queue = ask(lapwing_broker, f"queues/{quote(name, safe='')}").json()
    assert ([message["topic"] for message in queue["queue"]], queue["waiting_messages"]) == (["a", "b/c"], 2)
    assert "subscribed" not in queue
    assert ask(lapwing_broker, f"sessions/{quote(name, safe='')}", method="DELETE").status_code == 204
    assert ask(lapwing_broker, f"sessions/{quote(name, safe='')}").status_code == 404


def test_the_longest_queues_first(lapwing_broker: Broker, publish: Publish) -> None:
    for name, messages in (("one", [b"x" * 5000]), ("two", [b"x", b"y"]), ("none", [])):
        leave(lapwing_broker, name, f"to/{name}")
        publish(lapwing_broker.url, [(f"to/{name}", payload) for payload in messages])
        waits(lapwing_broker, name, len(messages))
    assert names(ask(lapwing_broker, "queues"), "queues") == ["one", "two"]
    assert names(ask(lapwing_broker, "queues", longest="messages"), "queues") == ["two", "one"]
    assert names(ask(lapwing_broker, "queues", longest="bytes", limit=1), "queues") == ["one"]
    assert names(ask(lapwing_broker, "sessions", longest="messages", prefix="n")) == ["none"]


def test_what_was_under_way_to_one_who_has_gone_waits(lapwing_broker: Broker, publish: Publish) -> None:
    """Is somebody in the list of queues who was sent a message, and left before acknowledging it?"""
    leave(lapwing_broker, "gone", "t")
    silent = paho.Client(paho.CallbackAPIVersion.VERSION2, "gone", protocol=paho.MQTTv5, manual_ack=True)
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = 600
    parts = urlsplit(lapwing_broker.url)
    silent.connect(str(parts.hostname), int(parts.port or 0), clean_start=False, properties=properties)
    silent.loop_start()
    publish(lapwing_broker.url, [("t", b"x")])
    until(lambda: session(lapwing_broker, "gone")["inflight_out"] == 1)
    assert names(ask(lapwing_broker, "queues"), "queues") == []
    silent.disconnect()
    silent.loop_stop()
    until(lambda: not session(lapwing_broker, "gone")["is_connected"])
    (queue,) = ask(lapwing_broker, "queues").json()["queues"]
    assert (queue["client_id"], queue["waiting_messages"], queue["inflight_out"]) == ("gone", 0, 1)


def test_a_session_ends_by_order(lapwing_broker: Broker) -> None:
    """Is its client told, its will published, and what it had gone?"""
    with Client(lapwing_broker.url, client_id="watcher") as watcher:
        watcher.subscribe("wills/#", qos=1)
        will = Will("wills/x", b"gone", qos=1)
        client = Client(lapwing_broker.url, client_id="x", clean_start=False, session_expiry_s=600, will=will).connect()
        client.subscribe("t", qos=1)
        assert ask(lapwing_broker, "sessions/x", method="DELETE").status_code == 204
        assert watcher.receive(DEADLINE_S).payload == b"gone"
        client.abort()
    with Client(lapwing_broker.url, client_id="x", clean_start=False) as again:
        assert not again.session_present
    metrics = lapwing_broker.metrics()
    assert metrics["lapwing_sessions_ended_by_order_total"] == 1
    assert metrics['lapwing_connections_closed_total{reason="administrative_action"}'] == 1
    gone = ask(lapwing_broker, "sessions/nobody", method="DELETE")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "session_unknown")


def test_a_queue_is_emptied_by_order(lapwing_broker: Broker, publish: Publish) -> None:
    leave(lapwing_broker, "x", "t")
    publish(lapwing_broker.url, [("t", b"old")] * 3)
    waits(lapwing_broker, "x", 3)
    emptied = ask(lapwing_broker, "queues/x", method="DELETE").json()
    assert (emptied["client_id"], emptied["messages"]) == ("x", 3)
    assert emptied["bytes"] > 9
    assert ask(lapwing_broker, "queues/nobody", method="DELETE").status_code == 404
    publish(lapwing_broker.url, [("t", b"new")])
    with Client(lapwing_broker.url, client_id="x", clean_start=False, session_expiry_s=600) as client:
        assert client.session_present
        assert client.receive(DEADLINE_S).payload == b"new"
    assert lapwing_broker.metrics()['lapwing_messages_dropped_total{reason="queue_emptied"}'] == 3


@pytest.mark.parametrize(
    ("path", "query", "said"),
    [
        ("sessions", {"limit": "0"}, "must be a whole number from 1 to 10000"),
        ("sessions", {"limit": "many"}, "must be a whole number from 1 to 10000"),
        ("sessions", {"state": "here"}, "must be connected or away"),
        ("queues", {"longest": "topics"}, "must be messages or bytes"),
        ("sessions", {"longest": "bytes", "after": "x"}, "pages are by client id"),
        ("sessions", {"filter": "x"}, "known are prefix, state, longest, limit, after"),
        ("clients", {"state": "away"}, "state=away: unknown; known are prefix, longest, limit, after"),
        ("sessions/x", {"head": "101"}, "must be a whole number from 0 to 100"),
        ("queues/x", {"limit": "1"}, "known are head"),
    ],
)
def test_wrong_parameters(lapwing_broker: Broker, path: str, query: dict[str, Any], said: str) -> None:
    answer = ask(lapwing_broker, path, **query)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_parameter")
    assert said in answer.json()["error"]["message"]


def test_other_methods_are_refused(lapwing_broker: Broker) -> None:
    assert ask(lapwing_broker, "sessions", method="DELETE").status_code == 405
    assert ask(lapwing_broker, "sessions/x", method="PUT").status_code == 405
