"""Is each change of a member's part in its cluster told once, in words that name the other node?"""

from __future__ import annotations

from typing import Any

from lapwing.errors import BrokerError
from lapwing.log.cluster_watch import ClusterWatch

STATUS: dict[str, Any] = {
    "name": "marsh",
    "node": 1,
    "role": "standby",
    "leader": None,
    "term": 3,
    "hindrance": None,
    "refusals": {},
    "nodes": [{"node": 1, "name": "north"}, {"node": 2, "name": "south"}],
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


def test_a_member_that_has_ended_says_nothing() -> None:
    def ended() -> dict[str, Any]:
        raise BrokerError("the node has ended")

    assert list(ClusterWatch(ended, list).look()) == []
