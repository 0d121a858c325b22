"""Who may subscribe to what: every filter for itself, by what it could bring."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import wire
from peer import Peer
from scenario import refused

import lapwing

Join = Callable[..., Peer]


@pytest.fixture
def failure(version: int) -> int:
    """The code of a filter that may not be subscribed to."""
    return 0x87 if version == 5 else 0x80


def test_each_filter_has_its_own_answer(broker: lapwing.Broker, join: Join, failure: int) -> None:
    peer, before = join("alice", "a"), refused(broker, "subscribe")
    codes = peer.subscribe_to(("open/a/#", 1), ("closed", 1), ("u/alice/+", 2), ("u/+/x", 0), ("open/b", 0))
    assert codes == bytes([1, failure, 2, failure, 0])
    assert refused(broker, "subscribe") == before + 2


@pytest.mark.parametrize("filter_", ["#", "+/x", "open/+", "open/#", "open/secret/x", "open/+/x", "openness", "u/#"])
def test_what_could_bring_more_than_is_permitted_is_refused(join: Join, failure: int, filter_: str) -> None:
    """`open/#` is permitted, but `open/secret/#` is denied within it: what meets the denial is refused as a whole."""
    assert join("alice", "a").subscribe_to(filter_) == bytes([failure])


def test_a_shared_filter_counts_by_what_is_in_it(join: Join, failure: int) -> None:
    peer = join("alice", "a")
    assert peer.subscribe_to("$share/g/open/a/#", "$share/g/closed", "$share/open/secret") == bytes(
        [0, failure, failure]
    )


def test_system_topics_need_a_rule(join: Join, failure: int) -> None:
    assert join("alice", "a").subscribe_to("$SYS/#") == b"\0"
    assert join("bob", "b").subscribe_to("$SYS/#") == bytes([failure])


def test_names_are_no_wildcards(broker: lapwing.Broker, join: Join, failure: int, version: int) -> None:
    """Can a client id or a user name bring a wildcard, a level more, or a `$` topic into a rule?"""
    for client_id in ("+", "#", "a/b", "+/x", "x/#"):
        peer = join("bob", client_id)
        for filter_ in (f"by-id/{client_id}/#", "by-id/+/#", "by-id/#", "by-id/a/#", "by-id/x/y"):
            if "#/" not in filter_:
                assert peer.subscribe_to(filter_) == bytes([failure]), (client_id, filter_)
        peer.close()
    for name in ("a+b", "evil/#"):
        peer = join(name, f"c-{name[0]}")
        assert peer.subscribe_to("shared/+/#", "shared/a/#", "shared/evil/x") == bytes([failure] * 3)
        assert peer.subscribe_to(f"by-id/{peer.client_id}/#") == b"\0", "a rule without the name still counts"
    system = join("bob", "$SYS")
    assert system.subscribe_to("$SYS/first", "by-id/$SYS/#") == bytes([failure, 0])
    plain = join("bob", "plain")
    assert plain.subscribe_to("plain/first", "by-id/plain/#", "shared/bob/#") == b"\0\0\0"
    assert broker.metrics()["lapwing_rule_patterns_void_total"] > 0


def test_nothing_comes_of_a_refused_filter(join: Join) -> None:
    """Neither live nor retained messages."""
    alice, bob = join("alice", "a"), join("bob", "b")
    alice.publish("open/x", b"kept", qos=1, retain=True)
    bob.subscribe_to("open/x", "by-id/b/x")
    alice.publish("open/x", b"live", qos=1)
    bob.publish("by-id/b/x", b"own")
    assert bob.message().payload == b"own"
    bob.send(wire.unsubscribe("open/x", version=bob.version))
    assert bob.expect(wire.UNSUBACK)
