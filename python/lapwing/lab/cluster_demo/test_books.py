"""Do the books find what was lost, and what came twice? And does the demo's exit code say so?"""

from __future__ import annotations

import pytest

from lapwing.lab.cluster_demo.books import Books
from lapwing.lab.cluster_demo.summary import Summary

QOS_1, QOS_2 = 0, 1
"""Publishers of these books."""


@pytest.fixture
def books() -> Books:
    return Books([1, 2])


def deliver(books: Books, publisher: int, *, times: int = 1) -> bytes:
    """One message all the way."""
    payload = books.publish(publisher)
    books.acknowledge(payload)
    for _ in range(times):
        books.deliver(payload, publisher)
    return payload


def ended(books: Books) -> tuple[int, str]:
    """The exit code, and the last line."""
    summary = Summary(4, 1.0, [], books.verdict())
    return summary.exit_code, summary.lines()[-1]


def test_all_is_well(books: Books) -> None:
    deliver(books, QOS_1)
    deliver(books, QOS_2)
    assert ended(books) == (0, "2 acknowledged, 2 delivered: 0 lost, 0 twice")


def test_what_nobody_acknowledged_may_be_lost(books: Books) -> None:
    books.publish(QOS_1)
    assert ended(books) == (0, "0 acknowledged, 0 delivered: 0 lost, 0 twice")


def test_what_nobody_acknowledged_may_come(books: Books) -> None:
    books.deliver(books.publish(QOS_2), QOS_2)
    assert ended(books) == (0, "0 acknowledged, 1 delivered: 0 lost, 0 twice")


@pytest.mark.parametrize("publisher", [QOS_1, QOS_2])
def test_a_planted_loss(books: Books, publisher: int) -> None:
    deliver(books, publisher)
    books.acknowledge(books.publish(publisher))
    assert books.missing == 1
    assert ended(books) == (1, "2 acknowledged, 1 delivered: 1 lost, 0 twice")
    assert books.verdict().named == (f"lost {publisher}:1",)


def test_a_planted_duplicate_of_qos_2(books: Books) -> None:
    deliver(books, QOS_2, times=3)
    assert ended(books) == (1, "1 acknowledged, 1 delivered: 0 lost, 2 twice")
    assert books.verdict().named == ("twice 1:0",)


def test_a_duplicate_of_qos_1_is_counted_and_allowed(books: Books) -> None:
    deliver(books, QOS_1, times=2)
    assert ended(books) == (0, "1 acknowledged, 1 delivered: 0 lost, 0 twice")
    assert books.verdict().qos_1.again == 1


def test_a_session_that_is_gone(books: Books) -> None:
    deliver(books, QOS_1)
    books.lose_session()
    assert ended(books) == (1, "1 acknowledged, 1 delivered: 0 lost, 0 twice, 1 sessions gone")


def test_what_nobody_sent(books: Books) -> None:
    """Another's message, one that was not published yet, and no message of the demo."""
    payload = deliver(books, QOS_1)
    books.deliver(payload, QOS_2)
    books.deliver(b"1:7:", QOS_2)
    books.deliver(b"hello", QOS_2)
    assert books.verdict().unknown == 3
    assert ended(books)[0] == 1
