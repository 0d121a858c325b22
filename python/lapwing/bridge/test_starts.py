"""Where does a partition begin that Kafka cannot continue?"""

from __future__ import annotations

from typing import Literal

import pytest

from lapwing.bridge.starts import Start, start_of

MARKS = (4, 10)
BEYOND = "has no offset 11, the last is 9: it begins at {} (start = {})"


@pytest.mark.parametrize(
    ("committed", "start", "expected"),
    [
        ({}, "earliest", Start(4, is_first=True)),
        ({}, "latest", Start(10, is_first=True)),
        ({1: 7}, "latest", Start(4)),
        ({0: 7}, "latest", Start(7)),
        ({0: 10}, "earliest", Start(10)),
        ({0: 1}, "latest", Start(4, 3, "offsets 1 to 3 were removed by Kafka before they were carried")),
        ({0: 11}, "earliest", Start(4, words=BEYOND.format(4, "earliest"), is_beyond=True)),
        ({0: 11}, "latest", Start(10, words=BEYOND.format(10, "latest"), is_beyond=True)),
    ],
)
def test_starts(committed: dict[int, int], start: Literal["earliest", "latest"], expected: Start) -> None:
    assert start_of(0, committed, MARKS, start) == expected
