"""Which topics refuse, and when has one been waited for long enough?"""

from __future__ import annotations

from lapwing.bridge.refusing_topics import RefusingTopics


def test_never() -> None:
    topics = RefusingTopics(None)
    topics.refuse(["t"])
    assert not topics.is_enough("t")


def test_at_once() -> None:
    topics = RefusingTopics(0.0)
    topics.refuse(["t"])
    assert topics.is_enough("t")


def test_a_topic_that_took_records_is_waited_for_again() -> None:
    topics = RefusingTopics(3_600.0)
    topics.refuse(["t"])
    assert "t" in topics
    assert not topics.is_enough("t")
    topics.take(["t", "u"])
    assert "t" not in topics
    assert not topics


class Clock:
    """Stands until it is moved."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_made_up_names_keep_a_lane_waiting_for_a_tenth_of_the_time() -> None:
    """A stranger names another topic as soon as the last one is given up, for a whole day."""
    clock, waited_s = Clock(), 0.0
    topics = RefusingTopics(5.0, 3, now=clock)
    for number in range(10_000):
        name = f"made-up-{number}"
        topics.refuse([name])
        while not topics.is_enough(name):
            clock.now_s += 1.0
            waited_s += 1.0
        clock.now_s += 1.0
    assert 0 < waited_s < clock.now_s / 10


def test_a_topic_that_has_taken_records_is_waited_for_beside_any_made_up_names() -> None:
    clock = Clock()
    topics = RefusingTopics(5.0, 3, lambda topic: topic != "good", clock)
    topics.refuse([f"made-up-{number}" for number in range(10)])
    topics.refuse(["good"])
    assert "good" in topics
    assert not topics.is_enough("good")
    assert topics.is_enough("made-up-9")
    assert not topics.is_enough("made-up-0")
