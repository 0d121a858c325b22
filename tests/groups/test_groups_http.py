"""Groups of a real broker over HTTP: what is seen of them, and what changes while they run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pytest
from members import NEVER_STALLED
from over_http import DEADLINE_S, Groups

from lapwing import Broker, Client

Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]
declared = pytest.mark.lapwing(
    http="127.0.0.1:0",
    groups={"alarms": {"filters": ["alarms/#"], "strategy": "c3", **NEVER_STALLED}, "w*": {"behind": "3s"}},
)
bare = pytest.mark.lapwing(http="127.0.0.1:0")


def three(publish: Publish, broker: Broker) -> None:
    publish(broker.url, [(f"alarms/{n}", b"x") for n in range(3)])


@declared
def test_a_declared_group_keeps_what_comes_before_its_members(
    lapwing_broker: Broker, groups: Groups, publish: Publish
) -> None:
    """Is it there from the start, does it count what waits, and does its first member get it?"""
    group = groups.until("alarms", lambda group: True)
    assert (group["filter"], group["strategy"], group["is_durable"]) == ("alarms/#", "c3", True)
    assert (group["members_here"], group["members"], group["waiting_bulk"]) == (0, [], 0)
    three(publish, lapwing_broker)
    assert groups.until("alarms", lambda group: group["waiting_bulk"] == 3)["backlog_s"] is None
    with Client(lapwing_broker.url, client_id="analyser") as member:
        member.subscribe("$share/alarms/alarms/#", qos=1)
        assert sorted(member.receive(timeout_s=DEADLINE_S).topic for _ in range(3)) == [
            "alarms/0",
            "alarms/1",
            "alarms/2",
        ]
        group = groups.until("alarms", lambda group: group["counters"]["acknowledged"] == 3)
        assert (group["members_here"], group["waiting_bulk"], group["unacknowledged"]) == (1, 0, 0)
        (shown,) = group["members"]
        assert (shown["client_id"], shown["presence"], shown["picks"], shown["inflight"]) == ("analyser", "here", 3, 0)
        assert shown["rtt_ms"] > 0


@declared
def test_settings_are_shown_as_they_are_written(groups: Groups) -> None:
    answer = groups.get("w*").json()
    assert (answer["settings"]["behind"], answer["groups"]) == ("3s", [])
    assert groups.get("alarms").json()["settings"]["filters"] == ["alarms/#"]


@declared
def test_a_group_takes_other_settings_while_it_runs(lapwing_broker: Broker, groups: Groups, publish: Publish) -> None:
    """Does a change keep what waits, and is a bound that it brings in force at once?"""
    three(publish, lapwing_broker)
    groups.until("alarms", lambda group: group["waiting_bulk"] == 3)
    changed = groups.put("alarms", filters=["alarms/#"], strategy="round-robin", queue_messages_max=2)
    assert changed.status_code == 200
    group = groups.until("alarms", lambda group: group["strategy"] == "round-robin")
    assert (group["waiting_bulk"], group["counters"]["dropped"]) == (2, {"queue_full": 1})


@bare
def test_a_group_is_declared_and_ends_by_command(lapwing_broker: Broker, groups: Groups, publish: Publish) -> None:
    assert groups.all() == []
    assert groups.put("alarms", filters=["alarms/#"]).status_code == 201
    groups.until("alarms", lambda group: group["is_durable"])
    three(publish, lapwing_broker)
    groups.until("alarms", lambda group: group["waiting_bulk"] == 3)
    assert groups.delete("alarms").status_code == 204
    assert groups.delete("alarms").status_code == 404
    until = time.monotonic() + DEADLINE_S
    while groups.all():
        assert time.monotonic() < until
        time.sleep(0.02)


@bare
def test_a_pattern_is_for_groups_to_come(lapwing_broker: Broker, groups: Groups) -> None:
    """Does a group that begins after the table have its settings, and its members' settings too?"""
    groups.put("alarm-*", strategy="least-inflight")
    with Client(lapwing_broker.url, client_id="a") as member:
        member.subscribe("$share/alarm-7/x", qos=1)
        assert groups.until("alarm-7", lambda group: group["members_here"] == 1)["strategy"] == "least-inflight"
        member.subscribe("$share/other/x", qos=1)
        assert groups.until("other", lambda group: group["members_here"] == 1)["strategy"] == "auto"
        groups.put("alarm-*", strategy="c3")
        groups.until("alarm-7", lambda group: group["strategy"] == "c3")
    # The group ends behind its last member, now or in a moment; while it is there, no table has its own name.
    answer = groups.get("alarm-7")
    assert answer.status_code == 404 or answer.json()["settings"] is None


@pytest.mark.lapwing(
    http="127.0.0.1:0",
    groups={
        "alarms": {
            "filters": ["alarms/#"],
            "expired": "dead-letter",
            "dead_letter_topic": "dead/alarms",
            "missed_topic": "missed/alarms",
            "rules": [{"topics": ["alarms/#"], "priority": "critical", "deadline": "50ms"}],
        }
    },
)
def test_what_is_too_late_is_told(lapwing_broker: Broker, groups: Groups, publish: Publish) -> None:
    """Are a dead letter and a miss published, counted, and as the pipeline's contracts want them?"""
    from lapwing.contracts.decode_late import decode_dead_letter, decode_miss

    with Client(lapwing_broker.url) as watcher:
        watcher.subscribe("dead/#", qos=1)
        watcher.subscribe("missed/#", qos=1)
        publish(lapwing_broker.url, [("alarms/fire", b"payload")])
        found = {message.topic: message for message in (watcher.receive(timeout_s=DEADLINE_S) for _ in range(2))}
    letter, miss = found["dead/alarms"], found["missed/alarms"]
    assert letter.payload == b"payload"
    said = decode_dead_letter([{"name": name, "value": value} for name, value in letter.user_properties])
    assert said is not None
    assert (said.reason, said.group, said.topic) == ("deadline_passed", "alarms", "alarms/fire")
    assert said.age_ms >= 50
    told = decode_miss(miss.payload)
    assert told is not None
    assert (told.group, told.filter, told.topic, told.lane) == ("alarms", "alarms/#", "alarms/fire", "critical")
    assert (told.client_id, told.deadline_ms) == (None, 50)
    assert told.took_ms >= 50
    counters = groups.until("alarms", lambda group: group["waiting_critical"] == 0)["counters"]
    assert (counters["dead_lettered"], counters["missed"], counters["missed_critical"]) == (
        {"deadline_passed": 1},
        1,
        1,
    )
