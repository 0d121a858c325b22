"""Real traces, played again: the phones of the past as the devices of now.

All files start together (they lie months apart), each in its own rhythm divided by ``speed``.
``measured_at`` is the time of the trace, ``sent_at`` the time of the replay; the phone's boot is 0 and its
serial counts the rows that are sound.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from lapwing.lab.cork_traces import credit_of
from lapwing.lab.malformed_rows import Malformed, MalformedRows
from lapwing.lab.payload import Value, encode, rfc3339
from lapwing.lab.source import BATCH_READINGS_MAX, Batch
from lapwing.lab.trace_repairs import Repair, Repairs
from lapwing.lab.trace_row import TraceRow
from lapwing.lab.traces import Trace, TraceError, find

ZONE = "Europe/Dublin"
"""The traces of Cork were written in the local time of Ireland."""

JUMP_S = 600
"""A trace's clock that jumps further, either way, was set, or another drive begins."""

SPEED_MIN, SPEED_MAX = 0.001, 1e9
"""What is slower, or faster, ends in times that nobody can write down."""

_AFTER_JUMP_US = 1_000_000
"""What a jump counts as: the step of a trace."""


@dataclass(frozen=True, slots=True)
class Due:
    """One row of one trace and the instant at which it is due."""

    due_us: int
    device: int
    serial: int
    row: TraceRow


class Replay:
    """A ``Source`` that plays traces.

    Args:
        path: ZIP, folder or CSV file.
        speed: How many times faster than the traces.
        zone: The time zone of their clocks.
    Raises:
        TraceError: the traces cannot be used. Rows that cannot be used do not raise: see ``malformed``.
    """

    def __init__(self, path: Path, speed: float = 1.0, zone: str = ZONE) -> None:
        if not SPEED_MIN <= speed <= SPEED_MAX:
            raise TraceError(
                f"speed {speed} is not from {SPEED_MIN:g} to {SPEED_MAX:,.0f}",
                where="--speed",
                remedy="give a number such as 1 or 200",
            )
        self._zone = _zone(zone)
        self._speed = speed
        self._path = path
        self._traces = find(path)
        self.malformed = MalformedRows()
        """Rows that cannot be sent, the first of them named; found before anything is sent."""
        self.repairs = Repairs()
        """What was mended, and by which rule."""
        self._survey()

    @property
    def credit(self) -> str:
        """Whom a report made from these traces has to name; empty where nobody is known."""
        return credit_of(self._traces)

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
            for due in self._play(index, survey=True):
                self._readings += 1
                self._seconds = max(self._seconds, due.due_us / 1e6)
        if not self._readings:
            remedy = str(self.malformed.first[0]) if self.malformed else "there is a header, and nothing below it"
            raise TraceError("no sound row in any trace", where=str(self._path), remedy=remedy)

    def _play(self, device: int, *, survey: bool = False) -> Iterator[Due]:
        """The sound rows of a trace; a ``survey`` takes down what is wrong, or was, and playing passes it over."""
        trace = self._traces[device]
        elapsed = _Elapsed(self._phase_us(device))
        serial = 0
        for row in trace.rows(self._zone):
            if isinstance(row, Malformed):
                if survey:
                    self.malformed.add(row)
                continue
            elapsed_us, jumped = elapsed.at(row.measured_at_us)
            if survey:
                self.repairs.add(f"{trace.name}:{row.line}", [*row.repairs, *jumped])
            yield Due(round(elapsed_us / self._speed), device, serial, row)
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


class _Elapsed:
    """When each row of a trace is due, at the trace's own speed.

    Its clock may step back by a second; a device sends in the order of its file nevertheless. It may be set, too, or
    the file may hold two drives: nobody waits for the years between.
    """

    def __init__(self, phase_us: int) -> None:
        self._due_us = phase_us
        self._latest_us: int | None = None

    def at(self, measured_at_us: int) -> tuple[int, list[Repair]]:
        """Microseconds from the trace's start, and the jump that was left out, if there was one."""
        latest_us = measured_at_us if self._latest_us is None else self._latest_us
        step_us = measured_at_us - latest_us
        if abs(step_us) > JUMP_S * 1_000_000:
            self._latest_us = measured_at_us
            self._due_us += _AFTER_JUMP_US
            return self._due_us, [Repair("clock_jump", f"the clock jumps by {_span(step_us)}")]
        self._latest_us = max(latest_us, measured_at_us)
        self._due_us += max(step_us, 0)
        return self._due_us, []


def _span(us: int) -> str:
    hours = abs(us) / 3_600_000_000
    told = f"{hours / 24:,.1f} days" if hours >= 48 else f"{hours:.1f} hours"
    return f"{'-' if us < 0 else '+'}{told}"


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
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:  # the latter two: what is no name of a zone
        raise TraceError(
            f"time zone {name!r} is not known here",
            where="--zone",
            remedy="give a name such as Europe/Paris or UTC; where names are missing, pip install tzdata",
        ) from problem
