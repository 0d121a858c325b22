"""The broker is killed and started again: what was promised for consumer groups is there, what they finished is not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import wire
from commands import RunningBroker
from crew import Hand, dup
from web import get

from lapwing import Client

SHARDS = pytest.mark.parametrize("shards", [1, 3])
DEADLINE_S = 30.0
DECLARED = '[groups."g"]\nfilters = ["t/#"]\n'
LETTERS = """
[groups."g"]
filters = ["t/#"]
expired = "dead-letter"
dead_letter_topic = "dead/g"
[groups."letters"]
filters = ["dead/#"]
"""


@contextmanager
def broker(data: Path, shards: int = 2, groups: str = "", *settings: str) -> Iterator[RunningBroker]:
    """A broker on this folder, with these tables; killed when the block is left."""
    config = data / "lapwing.toml"
    config.write_text(groups)
    flags = [part for setting in (f"broker.shards={shards}", *settings) for part in ("--set", setting)]
    with RunningBroker(data / "data", "--config", str(config), *flags).wait_until_ready() as running:
        yield running


def publish(running: RunningBroker, *payloads: str, topic: str = "t/a", qos: int = 1, **said: object) -> None:
    """Publishes; returns when all are acknowledged. `said`: user properties, with a hyphen for each underscore."""
    properties = [(f"lapwing-{name.replace('_', '-')}", str(value)) for name, value in said.items()]
    with Client(running.url, client_id=f"publisher-{qos}") as client:
        for payload in payloads:
            client.publish(topic, payload, qos=qos, user_properties=properties)
        client.flush()


def groups(running: RunningBroker, name: str = "g") -> list[dict[str, Any]]:
    """The groups of that name."""
    answer = get(f"{running.http}/v1/groups/{name}")
    found: list[dict[str, Any]] = answer.json()["groups"] if answer.status_code == 200 else []
    return found


def until(running: RunningBroker, is_so: Callable[[dict[str, Any]], bool], name: str = "g") -> dict[str, Any]:
    """The group, as soon as it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not ((found := groups(running, name)) and is_so(found[0])):
        assert time.monotonic() < deadline, json.dumps(found, indent=1)
        time.sleep(0.02)
    return found[0]


def until_gone(running: RunningBroker, name: str = "g") -> None:
    """Until there is no such group."""
    deadline = time.monotonic() + DEADLINE_S
    while groups(running, name):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def waiting(group: dict[str, Any]) -> int:
    """Messages of a group that no member has."""
    return int(group["waiting_critical"] + group["waiting_bulk"])


def member(running: RunningBroker, name: str = "member", **how: Any) -> Hand:
    """A member of the group, in a session that stays."""
    return Hand.joins(running.url, name, **how)


def take(hand: Hand, count: int) -> list[str]:
    """The payloads of the next messages, each finished."""
    return [payload.decode() for payload in hand.takes(count)]


def is_silent(hand: Hand) -> bool:
    """Whether nothing more is on its way to a member."""
    return not hand.pending()


def settle(running: RunningBroker) -> None:
    """What the group has said of its messages is on disk: it comes before what is acknowledged now."""
    publish(running, "last")


@SHARDS
@pytest.mark.parametrize("qos", [1, 2])
def test_a_declared_group_keeps_its_queue_without_members(tmp_path: Path, shards: int, qos: int) -> None:
    """Critical first, each lane in its order, with what their publisher said; on another number of shards too."""
    numbers = [str(number) for number in range(300)]
    with broker(tmp_path, shards, DECLARED) as running:
        publish(running, *numbers[:100], qos=qos)
        publish(running, *numbers[100:200], qos=qos, priority="critical")
        publish(running, *numbers[200:], qos=qos)
        assert until(running, lambda group: waiting(group) == 300)["is_kept"]
    with broker(tmp_path, 2, DECLARED) as running:
        group = until(running, lambda group: waiting(group) == 300)
        assert (group["is_kept"], group["waiting_critical"]) == (True, 100)
        hand = member(running, qos=qos)
        assert take(hand, 300) == numbers[100:200] + numbers[:100] + numbers[200:]
        assert is_silent(hand)
        until(running, lambda group: group["counters"]["acknowledged"] == 300)
        settle(running)
    with broker(tmp_path, shards, DECLARED) as running:
        until(running, lambda group: waiting(group) == 1)


@SHARDS
def test_a_group_lives_with_the_sessions_of_its_members(tmp_path: Path, shards: int) -> None:
    """Nobody has declared it: one member's session is kept, the other's is not, and both are away."""
    with broker(tmp_path, shards) as running:
        here, guest = member(running), member(running, "guest", expiry_s=0)
        assert until(running, lambda group: len(group["members"]) == 2)["is_kept"]
        here.close()
        guest.close()
        until(running, lambda group: group["members_here"] == 0 and len(group["members"]) == 1)
        publish(running, "0", "1", "2")
    with broker(tmp_path, shards) as running:
        group = until(running, lambda group: waiting(group) == 3)
        assert ([one["client_id"] for one in group["members"]], group["is_durable"]) == (["member"], False)
        again = member(running, share=None)
        assert take(again, 3) == ["0", "1", "2"]
        again.leaves("$share/g/t/#")
        until_gone(running)
    with broker(tmp_path, shards) as running:
        assert not groups(running)


@SHARDS
def test_without_kept_members_nothing_is_kept(tmp_path: Path, shards: int) -> None:
    with broker(tmp_path, shards) as running:
        guest = member(running, expiry_s=0)
        publish(running, "0")
        assert take(guest, 1) == ["0"]
        assert not groups(running)[0]["is_kept"]
        host = member(running, "host")
        assert until(running, lambda group: len(group["members"]) == 2)["is_kept"]
        host.leaves("$share/g/t/#")
        until(running, lambda group: len(group["members"]) == 1 and not group["is_kept"])
        publish(running, "1")
    with broker(tmp_path, shards) as running:
        assert not groups(running)


@SHARDS
def test_what_members_had_comes_again_and_what_they_finished_does_not(tmp_path: Path, shards: int) -> None:
    with broker(tmp_path, shards, DECLARED) as running:
        one, other = member(running, "one"), member(running, "other", expiry_s=0)
        publish(running, *"0123456789")
        had = {hand: hand.messages(int(found["inflight"])) for hand, found in zip_members(running, one, other)}
        finished = [messages[0].payload.decode() for messages in had.values() if messages]
        for hand, messages in had.items():
            for message in messages[:1]:
                hand.finishes(message)
        until(running, lambda group: group["counters"]["acknowledged"] == len(finished))
        settle(running)
    with broker(tmp_path, shards, DECLARED) as running:
        left = sorted({*"0123456789", "last"} - set(finished))
        until(running, lambda group: waiting(group) == len(left))
        third = member(running, "third")
        # The one that is kept is a member too, and away.
        assert sorted(take(third, len(left))) == left
        assert is_silent(third)


def zip_members(running: RunningBroker, *hands: Hand) -> list[tuple[Hand, dict[str, Any]]]:
    """Each with what the broker says of it once it has given out what it can."""
    group = until(running, lambda group: group["counters"]["published"] == 10 and group["unacknowledged"] > 1)
    return list(zip(hands, sorted(group["members"], key=lambda one: str(one["client_id"])), strict=True))


@SHARDS
def test_refused_and_dropped_messages_do_not_come_again(tmp_path: Path, shards: int) -> None:
    table = DECLARED + "queue_messages_max = 3\n"
    with broker(tmp_path, shards, table) as running:
        publish(running, *"01234")
        until(running, lambda group: group["counters"]["dropped"].get("queue_full") == 2)
    with broker(tmp_path, shards, table) as running:
        hand = member(running)
        first = hand.expect(wire.PUBLISH)
        hand.send(wire.packet(wire.PUBACK << 4, first.packet_id.to_bytes(2) + b"\x80"))
        until(running, lambda group: group["counters"]["refused"] == 1)
        settle(running)
    with broker(tmp_path, shards, table) as running:
        assert sorted(take(member(running, "another"), 3)) == ["3", "4", "last"]


@SHARDS
def test_a_dead_letter_is_in_one_place_or_in_two(tmp_path: Path, shards: int) -> None:
    """It leaves its group when the letter is kept: a crash in between makes the letter twice, and never loses it."""
    with broker(tmp_path, shards, LETTERS) as running:
        publish(running, "late", deadline_ms=50)
        until(running, lambda group: waiting(group) == 1, "letters")
        settle(running)
    with broker(tmp_path, shards, LETTERS) as running:
        # What the group still has in its log is late at once, and "last" behind it shows that it was looked at.
        until(running, lambda group: waiting(group) == 1)
        letters = waiting(until(running, lambda group: waiting(group) > 0, "letters"))
        assert letters in (1, 2)
        assert take(member(running, share="$share/letters/dead/#"), letters) == ["late"] * letters


@SHARDS
def test_time_goes_on_while_the_broker_is_down(tmp_path: Path, shards: int) -> None:
    """A deadline and an expiry that pass meanwhile end the wait, and the ages of messages count from when they came."""
    with broker(tmp_path, shards, LETTERS) as running:
        publish(running, "stays")
        publish(running, "late", deadline_ms=4_000)
        with Client(running.url) as client:
            client.publish("t/a", "expires", qos=1, message_expiry_s=4)
            client.flush()
        came = time.monotonic()
        until(running, lambda group: group["counters"]["published"] == 3)
    time.sleep(max(0.0, 5.2 - (time.monotonic() - came)))  # the messages' own time, which no broker can be asked about
    with broker(tmp_path, shards, LETTERS) as running:
        group = until(running, lambda group: waiting(group) == 1)
        assert group["oldest_ms"] > 5_000
        until(running, lambda group: waiting(group) == 2, "letters")
        assert take(member(running), 1) == ["stays"]


@SHARDS
@pytest.mark.parametrize("step", ["sent", "got"])
def test_qos_2_that_has_begun_goes_on_with_its_member(tmp_path: Path, shards: int, step: str) -> None:
    """Its packet id is the same, nobody else gets it, and it ends once."""
    with broker(tmp_path, shards, DECLARED) as running:
        first = member(running, "first", qos=2)
        publish(running, "0", qos=2)
        begun = first.expect(wire.PUBLISH)
        if step == "got":
            first.send(wire.ack(wire.PUBREC, begun.packet_id))
            assert first.expect(wire.PUBREL).packet_id == begun.packet_id
    with broker(tmp_path, shards, DECLARED) as running:
        assert waiting(groups(running)[0]) == 0
        other = member(running, "other", qos=2)
        publish(running, "1", qos=2)
        assert take(other, 1) == ["1"]
        first = member(running, "first", share=None)
        if step == "sent":
            again = first.expect(wire.PUBLISH)
            assert (again.payload, again.packet_id, dup(again)) == (b"0", begun.packet_id, True)
            first.finishes(again)
        else:
            assert first.expect(wire.PUBREL).packet_id == begun.packet_id
            first.send(wire.ack(wire.PUBCOMP, begun.packet_id))
        assert is_silent(first)
        assert is_silent(other)


@SHARDS
def test_qos_2_that_a_member_cannot_be_sent_stays_the_groups(tmp_path: Path, shards: int) -> None:
    """Its window is full with its own messages: what waits for it goes to another member after the crash."""
    with broker(tmp_path, shards, DECLARED) as running:
        busy = member(running, "busy", qos=2, properties=b"\x21\x00\x01")
        busy.asks(("own", 1))
        publish(running, "own", topic="own")
        busy.expect(wire.PUBLISH)
        publish(running, "0", qos=2)
        until(running, lambda group: group["unacknowledged"] == 1)
        assert is_silent(busy)
    with broker(tmp_path, shards, DECLARED) as running:
        until(running, lambda group: waiting(group) == 1)
        other = member(running, "other", qos=2)
        assert take(other, 1) == ["0"]


def test_a_member_that_cannot_be_sent_qos_2_gets_it_when_it_can(tmp_path: Path) -> None:
    with broker(tmp_path, 3, DECLARED) as running:
        busy = member(running, "busy", qos=2, properties=b"\x21\x00\x01")
        busy.asks(("own", 1))
        publish(running, "own", topic="own")
        own = busy.expect(wire.PUBLISH)
        publish(running, "0", qos=2)
        until(running, lambda group: group["unacknowledged"] == 1)
        busy.finishes(own)
        assert take(busy, 1) == ["0"]
        until(running, lambda group: group["counters"]["acknowledged"] == 1)


@SHARDS
def test_a_group_that_was_added_comes_back_until_it_is_removed(tmp_path: Path, shards: int) -> None:
    with broker(tmp_path, shards) as running:
        added = get(f"{running.http}/v1/groups/g", method="PUT", content=json.dumps({"filters": ["t/#"]}).encode())
        assert added.status_code == 201
        until(running, lambda group: group["is_kept"])
        publish(running, "0")
    with broker(tmp_path, shards) as running:
        assert until(running, lambda group: waiting(group) == 1)["is_durable"]
        publish(running, "1")
        until(running, lambda group: waiting(group) == 2)
        assert get(f"{running.http}/v1/groups/g", method="DELETE").status_code in (200, 204)
        until_gone(running)
    with broker(tmp_path, shards) as running:
        assert not groups(running)


def test_settings_of_a_group_that_was_added_come_back_with_it(tmp_path: Path) -> None:
    """Those of the configuration go before."""
    with broker(tmp_path, 2, '[groups."filed"]\nfilters = ["f/#"]\nworkers = 2\n') as running:
        for name, table in (
            ("added", {"filters": ["a/#"], "workers": 5}),
            ("filed", {"filters": ["f/#"], "workers": 5}),
        ):
            url = f"{running.http}/v1/groups/{name}"
            assert get(url, method="PUT", content=json.dumps(table).encode()).status_code in (200, 201)
            until(running, lambda group: group["is_kept"], name)
            publish(running, "0", topic=f"{name[0]}/1")
    with broker(tmp_path, 2, '[groups."filed"]\nfilters = ["f/#"]\nworkers = 2\n') as running:
        for name, workers in (("added", 5), ("filed", 2)):
            until(running, lambda group: waiting(group) == 1, name)
            assert get(f"{running.http}/v1/groups/{name}").json()["settings"]["workers"] == workers


def test_in_memory_nothing_is_promised(tmp_path: Path) -> None:
    for _ in range(2):
        with broker(tmp_path, 2, DECLARED, "broker.durability=memory") as running:
            assert not until(running, lambda group: waiting(group) == 0)["is_kept"]
            publish(running, "0")
            until(running, lambda group: waiting(group) == 1)
