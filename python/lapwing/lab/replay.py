"""Real traces, played again: the phones of the past as the devices of now.

All files start together (they lie months apart), each in its own rhythm divided by ``speed``.
``measured_at`` is the time of the trace, ``sent_at`` the time of the replay; the phone's boot is 0 and its
serial counts the rows that are sound.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from lapwing.lab.payload import Value, encode, rfc3339
from lapwing.lab.source import BATCH_READINGS_MAX, Batch
from lapwing.lab.trace_row import TraceRow
from lapwing.lab.traces import Malformed, Trace, TraceError, find

ZONE = "Europe/Dublin"
"""The traces were written in the local time of Ireland."""

CREDIT = (
    "D. Raca, D. Leahy, C. J. Sreenan, J. J. Quinlan: Beyond Throughput, The Next Generation: a 5G Dataset "
    "with Channel and Context Metrics. ACM MMSys 2020 (github.com/uccmisl/5Gdataset, GPL-3.0)"
)
"""Source of the traces, to be named wherever a result made from them is shown."""


@dataclass(frozen=True, slots=True)
class Due:
    """One row of one trace and the instant at which it is due."""

    due_us: int
    device: int
    serial: int
    row: TraceRow


def _seen_before(_row: Malformed) -> None:
    """While playing, a malformed row is passed over: the survey has named it."""


class Replay:
    """A ``Source`` that plays traces.

    Args:
        path: ZIP, folder or CSV file.
        speed: How many times faster than the traces; > 0.
        zone: The time zone of their clocks.
    Raises:
        TraceError: the traces cannot be used. Rows that cannot be used do not raise: see ``malformed``.
    """

    def __init__(self, path: Path, speed: float = 1.0, zone: str = ZONE) -> None:
        if not speed > 0:
            raise TraceError(f"speed {speed} is not above 0", where="--speed", remedy="give a number such as 1 or 200")
        self._zone = _zone(zone)
        self._speed = speed
        self._traces = find(path)
        self.malformed: list[Malformed] = []
        """Rows that cannot be sent, each named; found before anything is sent."""
        self._survey()

    @property
    def devices(self) -> list[str]:
        """One per trace."""
        return [trace.device for trace in self._traces]

    @property
    def seconds(self) -> float:
        """Length of the longest trace, at this speed."""
        return self._seconds

    @property
    def readings_expected(self) -> int:
        """The number of sound rows, exactly."""
        return self._readings

    def batches(self, started_at_us: int) -> Iterator[Batch]:
        """All sound rows of all traces, merged by the time at which they are due.

        The files are read as they are played, so memory does not grow with the length of the traces.
        """
        merged = heapq.merge(*map(self._play, range(len(self._traces))), key=lambda due: due.due_us)
        block: list[Due] = []
        for due in merged:
            block.append(due)
            if len(block) == BATCH_READINGS_MAX // 8:
                yield self._batch(block, started_at_us)
                block = []
        if block:
            yield self._batch(block, started_at_us)

    def _survey(self) -> None:
        self._readings = 0
        self._seconds = 0.0
        for index in range(len(self._traces)):
            for due in self._play(index, self.malformed.append):
                self._readings += 1
                self._seconds = max(self._seconds, due.due_us / 1e6)
        if not self._readings:
            raise TraceError("no sound row in any trace", remedy=str(self.malformed[0]) if self.malformed else "")

    def _play(self, device: int, malformed: Callable[[Malformed], None] = _seen_before) -> Iterator[Due]:
        # A trace's clock may step back by a second; a device sends in the order of its file nevertheless.
        due_us = 0
        first_at_us: int | None = None
        serial = 0
        for row in self._traces[device].rows(self._zone):
            if isinstance(row, Malformed):
                malformed(row)
                continue
            if first_at_us is None:
                first_at_us = row.measured_at_us
            elapsed_us = row.measured_at_us - first_at_us + self._phase_us(device)
            due_us = max(due_us, round(elapsed_us / self._speed))
            yield Due(due_us, device, serial, row)
            serial += 1

    def _phase_us(self, device: int) -> int:
        # Traces have whole seconds. Phones do not tick in step, so each is shifted by its part of a second.
        return 1_000_000 * device // len(self._traces)

    def _batch(self, block: list[Due], started_at_us: int) -> Batch:
        return Batch(
            device=np.array([due.device for due in block], dtype=np.int32),
            due_us=np.array([due.due_us for due in block], dtype=np.int64),
            payload=[_payload(self._traces[due.device], due, started_at_us) for due in block],
        )


def _payload(trace: Trace, due: Due, started_at_us: int) -> bytes:
    head: dict[str, Value] = {
        "device": trace.device,
        "boot": 0,
        "serial": due.serial,
        "sent_at": rfc3339(started_at_us + due.due_us),
        "measured_at": rfc3339(due.row.measured_at_us),
    }
    return encode(head | due.row.values)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError as problem:
        raise TraceError(f"time zone {name!r} is not known here", remedy="pip install tzdata") from problem
