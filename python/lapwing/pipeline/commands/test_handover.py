"""Does the broker have a command, or has it refused it, and when is it tried again?"""

from __future__ import annotations

import pytest

from lapwing.errors import LapwingError, RejectedError, Rejection
from lapwing.pipeline.commands.entry import Entry
from lapwing.pipeline.commands.handover import Handover

SECOND_US = 1_000_000
PUT_OFF_US = 20 * SECOND_US


class PlayedPost:
    """Numbers commands from 101 on, for it has published other things before, and answers a flush as it is told."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.outcome: bool | LapwingError = True

    def send(self, device: str, command_id: str, payload: bytes, expiry_s: int) -> int:
        self.given.append(command_id)
        return 100 + len(self.given)

    def flush(self, timeout_s: float) -> bool:
        if isinstance(self.outcome, LapwingError):
            raise self.outcome
        return self.outcome


def entry(name: str) -> Entry:
    return Entry(name, name, "measure", "17/1/1", b"{}", 0, 60 * SECOND_US, SECOND_US)


@pytest.fixture
def post() -> PlayedPost:
    return PlayedPost()


@pytest.fixture
def handover(post: PlayedPost) -> Handover:
    return Handover(post, PUT_OFF_US, lambda: 0)


def refused(*numbers: int, count: int = 0) -> RejectedError:
    rejections = [Rejection(number, "commands/x", 0x87, "Not authorized") for number in numbers]
    return RejectedError("refused", rejections=rejections, count=count)


def test_only_what_is_refused_is_put_off(post: PlayedPost, handover: Handover) -> None:
    """Also where something else of the post's was refused with it."""
    post.outcome = refused(7, 102)
    assert handover.give([entry(name) for name in "abc"], 1.0) == {"a", "c"}
    assert handover.refused == 1
    assert [handover.is_free("b", now_us) for now_us in (0, PUT_OFF_US - 1, PUT_OFF_US)] == [False, False, True]
    assert handover.is_free("a", 0)


def test_what_is_not_answered_is_under_way(post: PlayedPost, handover: Handover) -> None:
    post.outcome = False
    assert handover.give([entry("a")], 1.0) == set()
    assert not handover.is_free("a", 10 * PUT_OFF_US)
    post.outcome = True
    assert handover.give([], 1.0) == {"a"}
    assert post.given == ["a"]


@pytest.mark.parametrize("outcome", [LapwingError("the connection is over"), refused(101, count=100_000)])
def test_what_nobody_can_tell_counts_as_refused(post: PlayedPost, handover: Handover, outcome: LapwingError) -> None:
    """A post that is over, or one that refused more than it can name."""
    post.outcome = outcome
    assert handover.give([entry("a"), entry("b")], 1.0) == set()
    assert handover.refused == 2
    assert not handover.is_free("b", 0)
