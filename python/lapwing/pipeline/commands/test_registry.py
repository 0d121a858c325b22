"""Does the registry know who can be told something, and how they are?"""

from __future__ import annotations

from datetime import UTC, datetime

from lapwing.contracts.commands import Answer, Registration, State, encode
from lapwing.pipeline.commands.registry import Registry


def test_who_is_gone_or_speaks_for_another_is_not_in_the_crew() -> None:
    registry = Registry(devices_max=2)
    registry.heard("a", encode(Registration("a", True)))
    registry.heard("b", encode(Registration("a", True)))
    registry.heard("b", b"{")
    registry.heard("b", encode(Registration("b", True)))
    registry.heard("c", encode(Registration("c", True)))
    assert (registry.malformed, registry.refused, len(registry)) == (2, 1, 2)
    registry.heard("a", encode(Registration("a", False)))
    assert [each.device for each in registry.crew({"b": 1}, {"b": 3})] == ["b"]
    (member,) = registry.crew({"b": 1}, {"b": 3})
    assert (member.busy, member.asked) == (True, 3)
    registry.heard("a", b"")
    assert len(registry) == 1


def test_a_retained_registration_that_is_known_says_nothing_new() -> None:
    """It comes again with each connection; what its device has answered since is newer."""
    registry, said = Registry(), encode(Registration("a", True, state=State(battery=0.9, budget=5)))

    def battery() -> float | None:
        return next(each.battery for each in registry.crew({}, {}))

    registry.heard("a", said, is_retained=True)
    registry.answered(Answer("1", "a", datetime.now(UTC), "done", state=State(battery=0.3)))
    registry.heard("a", said, is_retained=True)
    assert battery() == 0.3
    registry.heard("a", encode(Registration("a", True, state=State(battery=0.8))), is_retained=True)
    assert battery() == 0.8, "it has registered anew meanwhile"
    registry.answered(Answer("2", "a", datetime.now(UTC), "done", state=State(battery=0.2)))
    registry.heard("a", encode(Registration("a", True, state=State(battery=0.8))))
    assert battery() == 0.8, "it says so now"
    registry.heard("b", encode(Registration("b", True)))
    registry.keep_only({"b"})
    assert [each.device for each in registry.crew({}, {})] == ["b"]
