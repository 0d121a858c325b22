"""A source whose readings are made before its run, so that making them costs nothing while it goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lapwing.errors import LapwingError
from lapwing.lab.payload import rfc3339_column
from lapwing.lab.source import Batch, Moves, Source

BYTES_MAX = 2 << 30
"""What a prepared run may take in memory: some four million readings."""

_ROW_BYTES = 160
"""A reading in memory beside its payload: two bytes objects and a pair."""

_SENT_AT = re.compile(rb'"sent_at":"[^"]*"')
_ANCHOR_US = 1_600_000_000_000_000


@dataclass(frozen=True, slots=True)
class _Made:
    """A batch without its times of sending: each payload is what stands before and behind it."""

    device: NDArray[np.int32]
    due_us: NDArray[np.int64]
    halves: list[tuple[bytes, bytes]]
    moves: Moves | None


class Prepared:
    """Makes everything that ``source`` will say now; only ``sent_at`` is filled in later. A ``Source`` itself.

    Args:
        source: Asked once, for a run at some instant: its other times stay those of that instant.
        progress: Called now and then with the number of readings made so far.

    Raises:
        LapwingError: more than ``BYTES_MAX``.

    Attributes:
        readings: How many there are, exactly.
        started_at_us: When the run began, by the wall clock; 0 before.
    """

    def __init__(self, source: Source, progress: Callable[[int], None] = lambda _readings: None) -> None:
        self._source = source
        self._made: list[_Made] = []
        self.readings = 0
        self.started_at_us = 0
        held = 0
        for batch in source.batches(_ANCHOR_US):
            halves = [_halves(payload) for payload in batch.payload]
            self._made.append(_Made(batch.device, batch.due_us, halves, batch.moves))
            self.readings += len(batch)
            held += sum(len(payload) + _ROW_BYTES for payload in batch.payload)
            if held > BYTES_MAX:
                raise LapwingError(
                    f"a run of {source.readings_expected:,} readings does not fit into {BYTES_MAX >> 20:,} MiB",
                    remedy="take fewer devices, a lower --rate or fewer --seconds",
                )
            progress(self.readings)

    @property
    def devices(self) -> Sequence[str]:
        """Those of the source."""
        return self._source.devices

    @property
    def seconds(self) -> float:
        """That of the source."""
        return self._source.seconds

    @property
    def readings_expected(self) -> int:
        """Exactly so many."""
        return self.readings

    def due_from(self, seconds: float) -> int:
        """Readings that are due so long after the start, or later."""
        return sum(int((made.due_us >= round(seconds * 1e6)).sum()) for made in self._made)

    def batches(self, started_at_us: int) -> Iterator[Batch]:
        """The run that starts at ``started_at_us``."""
        self.started_at_us = started_at_us
        for made in self._made:
            sent_at = rfc3339_column(started_at_us + made.due_us)
            payloads = [b'%s"sent_at":%s%s' % (half[0], at.encode(), half[1]) for half, at in _pairs(made, sent_at)]
            yield Batch(made.device, made.due_us, payloads, made.moves)


def _halves(payload: bytes) -> tuple[bytes, bytes]:
    found = _SENT_AT.search(payload)
    if found is None:
        raise LapwingError("a reading without sent_at cannot be prepared", where=repr(payload[:80]))
    return payload[: found.start()], payload[found.end() :]


def _pairs(made: _Made, sent_at: list[str]) -> Iterator[tuple[tuple[bytes, bytes], str]]:
    return zip(made.halves, sent_at, strict=True)
