"""A strategy in Python chooses for a group of a real broker."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from members import NEVER_STALLED, Member, group, publish
from wire import until

from lapwing import Broker
from lapwing.errors import BrokerError, ConfigError

MODULE = """
import threading
from lapwing.strategy import Strategy

class Last(Strategy):
    def choose(self, asks):
        return [max(ask.members, key=lambda member: member.client_id).client_id for ask in asks]

class Stuck(Strategy):
    def choose(self, asks):
        threading.Event().wait(2)
        return [None] * len(asks)

class Broken(Strategy):
    def choose(self, asks):
        raise RuntimeError("no")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module with strategies."""
    name = f"strategies_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def table(use: str, **more: object) -> dict[str, dict[str, object]]:
    return {"g": {"use": use, "fallback": "round-robin", **NEVER_STALLED, **more}}


@pytest.mark.parametrize("shards", [1, 3])
def test_it_names_the_member(module: str, shards: int) -> None:
    """Does every message go to the member that the class names?"""
    with Broker(shards=shards, groups=table(f"{module}:Last", timeout="60s")) as broker:
        first, last = (Member.of(broker.url, name, receive_max=100) for name in ("first", "last"))
        publish(broker, *(b"%d" % number for number in range(20)))
        assert [message.payload for message in last.messages(20)] == [b"%d" % number for number in range(20)]
        assert first.pending() == []
        assert group(broker)["strategy"] == f"{module}:Last"
        assert group(broker)["deferred"]["answered"] == 20
        counted = broker.metrics()
        answered = [count for name, count in counted.items() if 'answer="answered"' in name]
        assert answered == [20], "the metrics say the same"


def test_a_member_that_has_gone_is_not_named(module: str) -> None:
    """Does the other one get what the named one has left?"""
    with Broker(groups=table(f"{module}:Last", timeout="60s")) as broker:
        first, last = (Member.of(broker.url, name, receive_max=100) for name in ("first", "last"))
        publish(broker, b"1", b"2")
        last.messages(2)
        last.close()
        assert {message.payload for message in first.messages(2)} == {b"1", b"2"}


@pytest.mark.filterwarnings("ignore:a hook or a strategy did not return")
@pytest.mark.parametrize(("name", "timeout"), [("Stuck", "20ms"), ("Broken", "60s")])
def test_the_fallback_decides_where_it_does_not(module: str, name: str, timeout: str) -> None:
    """Do messages go on when the strategy is late or raises, and is that counted?"""
    with Broker(groups=table(f"{module}:{name}", timeout=timeout)) as broker:
        members = [Member.of(broker.url, name, receive_max=100) for name in ("a", "b")]
        publish(broker, *(b"%d" % number for number in range(6)))
        until(lambda: group(broker)["unacknowledged"] == 6)
        assert sorted(len(member.pending()) for member in members) == [3, 3]
        counters = group(broker)["deferred"]
        fell_back = ("failed", "timed_out", "unable", "overflowed")
        assert sum(counters[why] for why in fell_back) == 6, counters
        assert counters["failed" if name == "Broken" else "timed_out"] > 0, counters


def test_another_strategy_takes_over_while_it_runs(module: str) -> None:
    """Does a group leave the class for one of ours, and come back to it?"""
    with Broker(groups=table(f"{module}:Last", timeout="60s")) as broker:
        first, last = (Member.of(broker.url, name, receive_max=100) for name in ("first", "last"))
        node = broker._running()
        before = json.loads(node.group_settings_json())["g"]
        node.put_group("g", json.dumps({"strategy": "round-robin"}))
        until(lambda: group(broker)["strategy"] == "round-robin")
        publish(broker, b"1", b"2")
        assert len(first.messages(1) + last.messages(1)) == 2
        node.put_group("g", json.dumps(before))
        until(lambda: group(broker)["strategy"] == f"{module}:Last")
        publish(broker, b"3", b"4")
        assert [message.payload for message in last.messages(2)] == [b"3", b"4"]


def test_code_is_named_in_the_configuration_only(module: str) -> None:
    """Is a class that was not loaded at the start refused at run time, with what to do?"""
    with Broker(groups={"g": {}}) as broker, pytest.raises(Exception, match="was not loaded when the broker started"):
        broker._running().put_group("g", json.dumps({"use": f"{module}:Last"}))


def test_a_class_that_cannot_be_loaded_stops_the_start(module: str) -> None:
    """Does the error name key and class?"""
    with pytest.raises((ConfigError, BrokerError), match="Missing"):
        Broker(groups=table(f"{module}:Missing")).start()
