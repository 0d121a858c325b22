"""What Tab offers."""

from __future__ import annotations

import pytest

from lapwing.shell.completion import Candidate, Known, candidates
from lapwing.shell.verbs import VERBS

KNOWN = Known(["d1", "d2"], ["lamps/hall", "lamps/my kitchen", "time"], ["lamps/#"])


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", [verb.name for verb in VERBS]),
        ("  co", ["connect"]),
        ("s", ["sub"]),
        ("sub", []),
        ("xyzzy ", []),
        ("sub ", ["lamps/hall", "'lamps/my kitchen'", "time"]),
        ("sub ti", ["time"]),
        ("sub time t", ["time"]),
        ("pub lamps/h", ["lamps/hall"]),
        ("pub time ", []),
        ("pub -q 1 t", ["time"]),
        ("pub --retain t", ["time"]),
        ("pub time on t", []),
        ("pub t --q", ["--qos"]),
        ("pub t --qos ", ["0", "1", "2"]),
        ("pub t -q ", ["0", "1", "2"]),
        ("pub t --content-type ", []),
        ("pub t x --id ", ["d1", "d2"]),
        ("unsub ", ["lamps/#"]),
        ("use ", ["d1", "d2"]),
        ("disconnect d", ["d1", "d2"]),
        ("disconnect --forget d", ["d1", "d2"]),
        ("use d1 ", []),
        ("help un", ["unsub"]),
        ("pub 'lamps/", []),
        ("pub 'a b' 'c", []),
        ('pub lamps/"h', []),
        ("clients ", []),
    ],
)
def test_offered(typed: str, offered: list[str]) -> None:
    assert [candidate.text for candidate in candidates(typed, KNOWN)] == offered


def test_replaces_the_word_only() -> None:
    assert candidates("pub t x --ret", KNOWN) == [
        Candidate("--retain", 5, "The broker keeps it for later subscribers.")
    ]


@pytest.mark.parametrize("topic", ["lamps/x\u2028disconnect d1", "lamps/x\u202exeh", "lamps/\x85y", "--retain"])
def test_a_topic_that_is_no_word_as_it_is_seen_is_not_offered(topic: str) -> None:
    """It was, and what stood behind its line separator ran as a command."""
    assert candidates("sub ", Known(topics=[topic, "lamps/hall"])) == [Candidate("lamps/hall", 0)]
