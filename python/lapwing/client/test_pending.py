"""Does each request end with what is for it, whoever is first?"""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from lapwing.client.intake import Delivery
from lapwing.client.pending import _EARLY_MAX, Pending
from lapwing.errors import LapwingError, RejectedError

Waiting = Pending["Future[Delivery]"]


def asked(pending: Waiting, correlation: bytes) -> Future[Delivery]:
    reply: Future[Delivery] = Future()
    pending.add(correlation, reply)
    return reply


def refusal(number: int) -> tuple[int, str, int, str]:
    return (number, "t", 0x87, "Not authorized (0x87)")


def test_a_refusal_ends_its_own_request() -> None:
    pending = Waiting()
    one, two = asked(pending, b"1"), asked(pending, b"2")
    pending.sent(1, one)
    pending.sent(2, two)
    pending.refused([refusal(2)])
    assert not one.done()
    with pytest.raises(RejectedError, match=r"Not authorized \(0x87\) \(request to 't'\)") as told:
        two.result(0)
    assert [rejection.number for rejection in told.value.rejections] == [2]


def test_a_refusal_may_be_here_before_the_number_is_known() -> None:
    pending = Waiting()
    pending.refused([refusal(1)])
    one = asked(pending, b"1")
    pending.sent(1, one)
    with pytest.raises(RejectedError):
        one.result(0)


def test_refusals_for_nobody_are_bounded() -> None:
    pending = Waiting()
    forgotten = asked(pending, b"1")
    pending.sent(1, forgotten)
    pending.forget(b"1", 1)
    pending.refused(refusal(number) for number in range(1, 10 * _EARLY_MAX))
    assert not forgotten.done()
    assert len(pending._early) == _EARLY_MAX
    assert (pending._replies, pending._numbers) == ({}, {})


def test_the_end_of_the_connection_ends_all_that_wait() -> None:
    pending = Waiting()
    done, waits = asked(pending, b"1"), asked(pending, b"2")
    done.set_exception(TimeoutError())
    pending.fail(LapwingError("gone"))
    with pytest.raises(LapwingError, match="gone"):
        waits.result(0)
    with pytest.raises(TimeoutError):
        done.result(0)
