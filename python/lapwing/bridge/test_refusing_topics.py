"""Which topics refuse, and when has one been waited for long enough?"""

from __future__ import annotations

from lapwing.bridge.refusing_topics import RefusingTopics


def test_never() -> None:
    topics = RefusingTopics(None)
    topics.refuse(["t"])
    assert not topics.is_enough("t")


def test_at_once() -> None:
    topics = RefusingTopics(0.0)
    assert not topics.is_enough("t"), "it has refused nothing"
    topics.refuse(["t"])
    assert topics.is_enough("t")
    assert not topics.is_enough("u")


def test_a_topic_that_took_records_is_waited_for_again() -> None:
    topics = RefusingTopics(3_600.0)
    topics.refuse(["t"])
    assert "t" in topics
    assert not topics.is_enough("t")
    topics.take(["t", "u"])
    assert "t" not in topics
    assert not topics
