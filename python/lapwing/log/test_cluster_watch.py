"""Is each change of a member's part in its cluster told once, in words that name the other node?"""

from __future__ import annotations

from typing import Any

from lapwing.errors import BrokerError
from lapwing.log.cluster_watch import ClusterWatch
from lapwing.text import one_line

STATUS: dict[str, Any] = {
    "name": "marsh",
    "node": 1,
    "role": "standby",
    "leader": None,
    "term": 3,
    "hindrance": None,
    "refusals": {},
    "nodes": [{"node": 1, "name": "north", "skew_ms": 0}, {"node": 2, "name": "south", "skew_ms": None}],
}


def test_each_change_is_told_once() -> None:
    status, urls = dict(STATUS), [""]

    def listens() -> list[str]:
        if not urls:
            raise BrokerError("this node stands by")
        return urls

    urls.clear()
    watch = ClusterWatch(lambda: status, listens)

    def told() -> list[str]:
        return [f"{line.level} {line.text}" for line in watch.look()]

    assert told() == ["notice stands by; no node is known to serve the cluster"]
    assert told() == []
    status["leader"] = 2
    assert told() == ["notice stands by; south serves, or is about to"]
    status |= {"leader": 1, "role": "active"}
    assert told() == [], "its listeners are not open yet"
    urls.append("tcp://127.0.0.1:1883")
    assert told() == ["notice serves cluster marsh in term 3: listens at tcp://127.0.0.1:1883"]
    status["hindrance"] = "port 1883 is in use"
    status["refusals"] = {"2": "the tables groups differ"}
    assert told() == [
        "warning south does not speak to this node: the tables groups differ",
        "warning is to serve the cluster and cannot: port 1883 is in use; it tries again",
    ]
    assert told() == []


def test_a_clock_that_differs_is_told_once() -> None:
    """And when it agrees again; nothing in between, nor while the node is away."""
    status = dict(STATUS)
    watch = ClusterWatch(lambda: status, list)
    list(watch.look())
    told: list[str] = []
    for skew_ms in (500, 501, 9_000, 300, None, -700, 0, None, -1_234, -249):
        status["nodes"] = [{"node": 2, "name": "so\x1bth", "skew_ms": skew_ms}]
        told += [f"{skew_ms} {line.level} {line.text.partition(':')[0]}" for line in watch.look()]
    name = one_line("so\x1bth")
    assert told == [
        f"501 warning the clock of {name} is 501 ms ahead of this node's",
        f"0 notice the clock of {name} agrees with this node's again",
        f"-1234 warning the clock of {name} is 1,234 ms behind this node's",
        f"-249 notice the clock of {name} agrees with this node's again",
    ]


def test_a_member_that_has_ended_says_nothing() -> None:
    def ended() -> dict[str, Any]:
        raise BrokerError("the node has ended")

    assert list(ClusterWatch(ended, list).look()) == []
