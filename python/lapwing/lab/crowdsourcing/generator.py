"""The fleet, a process: prepares its readings, connects its phones, publishes on schedule.

``python -m lapwing.lab.crowdsourcing.generator ORDER``; ORDER is JSON with the fields of ``Order``. Lines of JSON on
standard output: ``preparing``, ``prepared``, ``connecting``, ``online``, ``begun``, ``sending``, ``report``. On its
standard input it waits after ``prepared`` for ``{"url": BROKER}``, and after ``online`` for ``{"go": true}``.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lapwing.errors import LapwingError
from lapwing.lab.crowdsourcing.prepared import Prepared
from lapwing.lab.crowdsourcing.schedule import LATE_MS
from lapwing.lab.fleet import Counts, FleetRun
from lapwing.lab.synthetic import Synthetic
from lapwing.niceness import set_niceness
from lapwing.text import one_line

_SHOW_EVERY_S = 0.2
_CONNECT_S = 120.0
_NICE = -10
"""Phones are machines of their own: where the system lets it, the fleet goes before the brokers of this one."""


@dataclass(frozen=True)
class Order:
    """What the generator is told; ``seconds`` is the whole schedule, of which ``warm_s`` warms things up."""

    devices: int
    seconds: float
    warm_s: float
    rate: float
    seed: int
    qos: int


class Told:
    """Says how far it is, not too often."""

    def __init__(self) -> None:
        self._said_s = 0.0

    def now(self, event: str, **fields: Any) -> None:
        """Says it."""
        print(json.dumps({"event": event, **fields}), flush=True)  # noqa: T201 (this is its protocol)
        self._said_s = time.monotonic()

    def perhaps(self, event: str, count: Callable[[], int]) -> None:
        """Says it if nothing has been said for a while."""
        if time.monotonic() - self._said_s >= _SHOW_EVERY_S:
            self.now(event, count=count())


def _heard() -> dict[str, Any]:
    """The next line of standard input; the experiment that is gone says nothing more."""
    line = sys.stdin.readline()
    if not line:
        raise SystemExit(0)
    heard: dict[str, Any] = json.loads(line)
    return heard


def _run(order: Order) -> None:
    told = Told()
    city = Synthetic(order.devices, order.seconds, order.rate, order.seed, speed=1.0)
    source = Prepared(city, lambda readings: told.perhaps("preparing", lambda: readings))
    # A million small objects that live to the end: the collector need not look at them again.
    gc.collect()
    gc.freeze()
    told.now("prepared", readings=source.readings)
    url = _heard()["url"]
    with suppress(PermissionError):
        set_niceness(os.getpid(), _NICE)
    begun = False

    def sending(counts: Counts) -> None:
        nonlocal begun
        if not begun:
            begun = True
            told.now("begun", at_us=source.started_at_us)
        told.perhaps("sending", lambda: counts.sent)

    fleet_run = FleetRun(
        url, source.devices, seed=order.seed, qos=order.qos, judged_from_s=order.warm_s, late_ms=LATE_MS
    )
    with fleet_run as fleet:
        fleet.connect(lambda counts: told.perhaps("connecting", lambda: counts.online), _CONNECT_S)
        told.now("online")
        _heard()
        fleet.play(source, sending)
        told.now("report", measured=source.due_from(order.warm_s), fleet=fleet.finish())
    _wait_for_end()


def _wait_for_end() -> None:
    """Until the experiment has read the report, and ends it."""
    sys.stdin.readline()


def main() -> int:
    """The fleet from its first phone to its last; gives the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when it ends
    try:
        _run(Order(**json.loads(sys.argv[1])))
    except LapwingError as error:
        sys.stderr.write("".join(f"error: {one_line(line)}\n" for line in error.lines()))
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
