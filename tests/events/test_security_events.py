"""`events.refused`: who was refused, and what clients may not do, as messages; at a rate."""

from __future__ import annotations

import json

import pytest

import lapwing
from lapwing.client.message import Message

RULES = [
    {"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["free/#"]},
    {"identity": "anonymous", "may": ["subscribe"], "topics": ["$lapwing/events/#"]},
    {"identity": "anonymous", "may": ["connect"], "client_ids": ["*"]},
    {"identity": "anonymous", "may": ["connect"], "client_ids": ["root"], "effect": "deny"},
]


def next_event(monitor: lapwing.Client) -> dict[str, object]:
    message = monitor.receive(30.0)
    assert isinstance(message, Message)
    event: dict[str, object] = json.loads(message.payload)
    assert message.topic.startswith(f"$lapwing/events/{event['event']}/")
    return event


def test_refusals_are_messages() -> None:
    with (
        lapwing.Broker(events={"refused": True}, rules=RULES, shards=1) as broker,
        lapwing.Client(broker.url, client_id="monitor") as monitor,
    ):
        monitor.subscribe("$lapwing/events/#", qos=1)
        with pytest.raises(lapwing.LapwingError):
            lapwing.Client(broker.url, client_id="root", username="eve", password="x").connect()
        refused = next_event(monitor)
        assert (refused["event"], refused["client_id"], refused["claimed_username"]) == ("refused", "root", "eve")
        assert refused["reason_code"] == 0x85
        assert refused["listener"] == broker.url
        with lapwing.Client(broker.url, client_id="c") as client:
            client.publish("secret/x", "x")
            client.flush()
            forbidden = next_event(monitor)
        assert (forbidden["what"], forbidden["topic"], forbidden["client_id"]) == ("publish", "secret/x", "c")


def test_a_storm_is_a_minutes_worth() -> None:
    with (
        lapwing.Broker(events={"refused": True}, rules=RULES, limits={"notices_per_minute": 5}, shards=1) as broker,
        lapwing.Client(broker.url, client_id="monitor") as monitor,
    ):
        monitor.subscribe("$lapwing/events/forbidden/+", qos=1)
        with lapwing.Client(broker.url, client_id="c") as client:
            for number in range(200):
                client.publish(f"secret/{number}", "x")
            client.flush()
        events = [next_event(monitor) for _ in range(5)]
        assert [event["topic"] for event in events] == [f"secret/{number}" for number in range(5)]
        assert monitor.receive(0.2) is None
        assert broker.metrics()['lapwing_notices_left_out_total{kind="refused"}'] == 195
