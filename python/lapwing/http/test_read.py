"""Where does a read begin that does not say, while retention deletes?"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import anyio
import pytest

from lapwing._core import CoreError
from lapwing.config import HttpSection
from lapwing.http.authority import Authority
from lapwing.http.caller import Caller, Standing
from lapwing.http.counters import HttpCounters
from lapwing.http.parameters import ReadParameters
from lapwing.http.read import _OLDEST_READS_MAX, ReadEndpoint
from lapwing.http.streams import Streams
from lapwing.http_listener.http_error import HttpError

OPEN = Caller(None, Standing.OPEN, cast(Authority, None))


class TrimmedNode:
    """Retention deletes a segment of five messages before each of the first ``times`` reads."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.asked: list[int] = []

    async def find(self, _name: str, _caller: Caller) -> dict[str, Any]:
        return {"uuid": "u", "partitions": [{"first_offset": 0}]}

    def read_stream(self, _name: str, partition: int, offset: int, *_: object) -> tuple[bytes, int, int, int]:
        self.asked.append(offset)
        if partition:
            raise refusal("partition_unknown")
        oldest = 5 * min(len(self.asked), self.times)
        if offset < oldest:
            raise refusal("offset_trimmed", first_offset=oldest, next_offset=1_000)
        return b"messages", oldest, offset + 1, 1_000


def refusal(code: str, **evidence: int) -> CoreError:
    error = CoreError(code)
    error.code, error.message, error.remedy, error.evidence = code, code, "", evidence
    return error


def read(node: TrimmedNode, offset: int | None, partition: int = 0) -> str:
    """The first message's offset."""
    endpoint = ReadEndpoint(cast(Any, node), cast(Streams, node), HttpSection(), HttpCounters())
    wanted = ReadParameters("readings", partition, offset, messages_max=1, bytes_max=1, reader=None)
    return str(int(anyio.run(partial(endpoint._read, wanted, OPEN)).headers["Lapwing-Next-Offset"]) - 1)


@pytest.mark.parametrize(("times", "first"), [(0, "0"), (1, "5"), (_OLDEST_READS_MAX - 1, "35")])
def test_at_the_oldest_that_there_is_when_it_is_read(times: int, first: str) -> None:
    node = TrimmedNode(times)
    assert read(node, None) == first
    assert len(node.asked) == times + 1


@pytest.mark.parametrize(
    ("offset", "partition", "status", "reads"),
    [(3, 0, 410, 1), (None, 1, 404, 1), (None, 0, 410, _OLDEST_READS_MAX)],
)
def test_what_it_says_is_kept_to_and_no_read_lasts_for_ever(
    offset: int | None, partition: int, status: int, reads: int
) -> None:
    node = TrimmedNode(1_000)
    with pytest.raises(HttpError) as caught:
        read(node, offset, partition)
    assert (caught.value.status, len(node.asked)) == (status, reads)
