"""Is a record read whatever its producer wrote, and where does a partition begin that Kafka cannot continue?"""

from __future__ import annotations

from typing import Any, cast

import pytest

from lapwing.bridge.kafka_intake import source_of
from lapwing.bridge.starts import Start, start_of


class Unreadable:
    """A record with a header whose name is not UTF-8, as confluent-kafka gives it."""

    def headers(self) -> Any:
        raise SystemError("returned a result with an exception set")

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 1

    def offset(self) -> int:
        return 7

    def key(self) -> bytes:
        return b"k"

    def value(self) -> bytes:
        return b"v"

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_700_000_000_000


def test_headers_that_cannot_be_read_are_said_to_be() -> None:
    source = source_of(cast("Any", Unreadable()))
    assert (source.key, source.value, source.headers) == (b"k", b"v", [])
    assert "not UTF-8" in source.problem
    assert source.taken_in_us == 1_700_000_000_000_000


@pytest.mark.parametrize(
    ("committed", "start", "expected"),
    [
        ({}, "earliest", Start(10, is_first=True)),
        ({}, "latest", Start(20, is_first=True)),
        ({0: 3}, "latest", Start(10)),
        ({1: 15}, "latest", Start(15)),
        ({1: 20}, "latest", Start(20)),
    ],
)
def test_where_a_partition_begins(committed: dict[int, int], start: Any, expected: Start) -> None:
    """A group without offsets begins where it is told; a partition that was added to its topic, at the first record."""
    assert start_of(1, committed, (10, 20), start) == expected


def test_what_kafka_has_removed_is_said_and_counted() -> None:
    start = start_of(1, {1: 4}, (10, 20), "latest")
    assert start == Start(10, 6, "offsets 4 to 9 were removed by Kafka before they were carried")


@pytest.mark.parametrize(("start", "begins"), [("earliest", 10), ("latest", 20)])
def test_an_offset_behind_the_end_is_said_and_begins_anew(start: Any, begins: int) -> None:
    words = f"has no offset 21, the last is 19: it begins at {begins} (start = {start})"
    assert start_of(1, {1: 21}, (10, 20), start) == Start(begins, words=words, is_beyond=True)
