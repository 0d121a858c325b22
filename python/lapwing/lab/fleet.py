"""The fleet: every device of a source as an MQTT client of its own, publishing on schedule.

The schedule is handed to ``lapwing._core.Fleet`` ahead of time, in batches; its queue is bounded, so a long
run needs no more memory than a short one. What is due leaves the queue, whatever the broker does: one that answers
slowly does not hold the schedule up before a million readings, or 512 MiB, are unanswered; what then waits is counted
as held. Python touches a reading once, to make it; the sending is Rust's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from lapwing._core import CoreError, Fleet, monotonic_ns
from lapwing.client.failures import core_failures
from lapwing.client_url import without_user
from lapwing.errors import ConnectError, TimedOutError
from lapwing.lab.source import Batch, Source

QUEUE_READINGS_MAX = 20_000
"""Readings made and not due yet: about 10 MB."""

LEAD_S = 0.5
"""The schedule starts so much after `FleetRun.play` is called: the first readings are made by then."""

STALL_S = 30.0
"""A broker that takes nothing for so long, while readings are due, is given up."""

_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Counts:
    """What a fleet has done so far."""

    accepted: int
    taken_up: int
    sent: int
    acknowledged: int
    rejected: int
    online: int
    refused: int

    @property
    def done(self) -> int:
        """Messages that the broker has answered, this way or that."""
        return self.acknowledged + self.rejected

    def over(self, qos: int) -> int:
        """Messages with which the fleet is done: at QoS 0 nobody answers."""
        return self.done if qos else self.sent + self.rejected


Progress = Callable[[Counts], None]


class FleetRun:
    """A fleet's life: connect, play a source, finish. Use it in a ``with`` block.

    Args:
        url: The broker, ``tcp://HOST:PORT``.
        devices: Names; each is a client id, and part of its topic ``spectrum/NAME/readings``.
        threads: Of the fleet; one drives tens of thousands of devices.
        seed: Of the jitter of reconnections.
        qos: 0 or 1.
        judged_from_s: How the fleet kept its schedule (``schedule`` of the report) counts readings due from then on.
        late_ms: A reading taken up so long after it was due is late.
    Raises:
        LapwingError: more devices than this process may open files, or a URL that is none.
    """

    def __init__(
        self,
        url: str,
        devices: Sequence[str],
        *,
        threads: int = 1,
        seed: int = 0,
        qos: int = 1,
        judged_from_s: float = 0.0,
        late_ms: float = 100.0,
    ) -> None:
        self._url = without_user(url)
        self._qos = qos
        config = {
            "url": url,
            "clients": [{"client_id": name, "topic": f"spectrum/{name}/readings"} for name in devices],
            "threads": threads,
            "seed": seed,
            "queue_messages_max": QUEUE_READINGS_MAX,
            "judged_from_us": round(judged_from_s * 1e6),
            "late_ms": late_ms,
        }
        with core_failures(self._url):
            self._fleet = Fleet(json.dumps(config))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            # Whatever is left unsent is not waited for; the error at hand is the one to tell.
            try:
                self._fleet.finish_json(0.0)
            except CoreError as failure:
                if error is not None:
                    error.add_note(f"the fleet could not be ended: {failure}")

    def connect(self, progress: Progress, timeout_s: float = 60.0) -> None:
        """Waits until every device is connected.

        Raises:
            ConnectError: the broker refuses them.
            TimedOutError: they are not connected in time.
        """
        wanted = self._fleet.joined()
        deadline = time.monotonic() + timeout_s
        while (counts := self.counts()).online < wanted:
            progress(counts)
            if counts.refused:
                raise ConnectError(f"the broker refuses {counts.refused} devices", where=self._url)
            if time.monotonic() > deadline:
                raise TimedOutError(
                    f"{wanted - counts.online} of {wanted} devices not connected in {timeout_s:g} s",
                    where=self._url,
                )
            time.sleep(_LOOK_S)
        progress(counts)

    def play(self, source: Source, progress: Progress) -> None:
        """Publishes everything that ``source`` makes, each reading when it is due, and waits for the answers.

        Raises:
            TimedOutError: the broker has answered nothing for `STALL_S`, though readings were due.
        """
        begun = time.monotonic()
        started_at_us = round((time.time() + LEAD_S) * 1e6)
        with core_failures(self._url):
            self._fleet.go(monotonic_ns() + round(LEAD_S * 1e9))
        patience = _Patience(self._url, self._qos)
        for batch in source.batches(started_at_us):
            self._move(batch)
            self._offer(batch, progress, patience)
        while (counts := self.counts()).over(self._qos) < counts.accepted:
            progress(counts)
            patience.check(counts, waiting=time.monotonic() > begun + LEAD_S + source.seconds)
            time.sleep(_LOOK_S)
        progress(counts)

    def finish(self, timeout_s: float = 10.0) -> dict[str, Any]:
        """Lets the devices say goodbye; gives the fleet's report."""
        with core_failures(self._url):
            report: dict[str, Any] = json.loads(self._fleet.finish_json(timeout_s))
        return report

    def counts(self) -> Counts:
        """The counters as of now."""
        with core_failures(self._url):
            told = json.loads(self._fleet.counts_json())
        return Counts(**{name: told[name] for name in Counts.__slots__})

    def _move(self, batch: Batch) -> None:
        if batch.moves is None:
            return
        with core_failures(self._url):
            taken = self._fleet.move_devices(batch.moves.device.data, batch.moves.due_us.data, batch.moves.kind)
        if taken < len(batch.moves.kind):
            raise TimedOutError("the fleet takes no more tasks", where=self._url)

    def _offer(self, batch: Batch, progress: Progress, patience: _Patience) -> None:
        taken = 0
        while taken < len(batch):
            with core_failures(self._url):
                taken += self._fleet.offer(
                    batch.device[taken:].data,
                    batch.due_us[taken:].data,
                    batch.payload[taken:],
                    qos=self._qos,
                    timeout_s=_LOOK_S,
                )
            counts = self.counts()
            progress(counts)
            patience.check(counts, waiting=counts.taken_up > counts.over(self._qos))


class _Patience:
    """Notices when a broker has stopped answering."""

    def __init__(self, url: str, qos: int) -> None:
        self._url = url
        self._qos = qos
        self._done = 0
        self._since = time.monotonic()

    def check(self, counts: Counts, *, waiting: bool) -> None:
        now = time.monotonic()
        done = counts.over(self._qos)
        if done > self._done or not waiting:
            self._done, self._since = done, now
        elif now - self._since > STALL_S:
            raise TimedOutError(
                f"the broker has answered nothing for {STALL_S:g} s",
                where=self._url,
                remedy=f"{counts.accepted - done} readings are not acknowledged; see the broker's log",
            )
