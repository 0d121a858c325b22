"""When has a topic been waited for long enough?"""

from __future__ import annotations

from lapwing.bridge.missing_topics import MissingTopics


def test_never() -> None:
    missing = MissingTopics(None)
    assert not missing.is_enough("t")
    assert not missing


def test_at_once() -> None:
    assert MissingTopics(0.0).is_enough("t")


def test_a_topic_that_came_is_waited_for_again() -> None:
    missing = MissingTopics(3_600.0)
    assert not missing.is_enough("t")
    assert missing
    missing.are_there(["t", "u"])
    assert not missing
