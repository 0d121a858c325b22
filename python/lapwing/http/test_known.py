"""Is what was right known where it was, until somebody guesses there or it makes room, and nowhere else?"""

from __future__ import annotations

from lapwing.http import known
from lapwing.http.conftest import Clock
from lapwing.http.known import KnownCallers

ALICE = ("alice", b"right")
HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


def test_what_was_right_is_known_there_and_asked_about_again_in_time(clock: Clock) -> None:
    callers = KnownCallers()
    callers.remember(HERE, ALICE, "alice", 60.0)
    assert callers.find(ELSEWHERE, ALICE) is None
    assert callers.find(HERE, ("bob", b"right")) is None
    found = callers.find(HERE, ALICE)
    assert found is not None
    assert (found.name, found.is_good()) == ("alice", True)
    clock.now += 61
    found = callers.find(HERE, ALICE)
    assert found is not None
    assert not found.is_good()
    found.renew("alice", 60.0)
    assert found.is_good()
    callers.all_must_be_asked()
    assert callers.find(HERE, ALICE) is found
    assert not found.is_good()


def test_a_guess_ends_it_for_that_name_there() -> None:
    callers = KnownCallers()
    for network, given in ((HERE, ALICE), (ELSEWHERE, ALICE), (HERE, ("bob", b"b")), (HERE, (None, b"t"))):
        callers.remember(network, given, "somebody", 60.0)
    assert callers.find(HERE, ("alice", b"guess")) is None
    assert callers.find(HERE, ALICE) is None
    assert callers.find(HERE, (None, b"another")) is None
    assert all(callers.find(*known) for known in ((ELSEWHERE, ALICE), (HERE, ("bob", b"b")), (HERE, (None, b"t"))))
    callers.forget(ELSEWHERE, ALICE)
    assert callers.find(ELSEWHERE, ALICE) is None


def test_what_was_seen_longest_ago_makes_room() -> None:
    callers = KnownCallers()
    for number in range(known.KNOWN_MAX):
        callers.remember(HERE, (str(number), b"p"), "somebody", 60.0)
    assert callers.find(HERE, ("0", b"p"))
    callers.remember(HERE, ("one more", b"p"), "somebody", 60.0)
    assert callers.find(HERE, ("0", b"p"))
    assert callers.find(HERE, ("one more", b"p"))
    assert callers.find(HERE, ("1", b"p")) is None
