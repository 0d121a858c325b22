"""One point: an architecture's processes, a fleet, readings on schedule, and what came of it."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from lapwing.errors import ConfigError, InterruptError, LapwingError, TimedOutError
from lapwing.lab.crowdsourcing.architecture import Evidence
from lapwing.lab.crowdsourcing.balance import Balance
from lapwing.lab.crowdsourcing.clocks import latencies
from lapwing.lab.crowdsourcing.declared import process_command
from lapwing.lab.crowdsourcing.drops import drops
from lapwing.lab.crowdsourcing.generator import Order
from lapwing.lab.crowdsourcing.part import Part, PartEndedError, Process, Standing, tail
from lapwing.lab.crowdsourcing.plan import Setting
from lapwing.lab.crowdsourcing.row import Row
from lapwing.lab.crowdsourcing.schedule import Schedule
from lapwing.lab.crowdsourcing.site import Site
from lapwing.lab.crowdsourcing.watch import Watch

Tell = Callable[[str, int, int | None], None]
"""What is being done, how many of it are done, of how many."""

_LOOK_S = 0.05
_PATIENCE_S = 180.0
"""For any step of the generator that does not come on by itself."""
_SETTLE_S = 5.0


def run_point(setting: Setting, folder: Path, tell: Tell) -> Row:
    """Measures a point; its logs stay in ``folder``.

    A part that ends, does not come on, or does not say what it has ends the point: the row says why, in the error's
    words, with the tail of that part's log. The points before it are measured, and stay so.

    Raises:
        ConfigError: something that the architecture needs is not there: it will not be there at the next point, either.
    """
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder.absolute(), setting.qos, setting.shards, setting.bridges)
    try:
        with _Run(setting, site, tell) as run:
            return run.measure()
    except (ConfigError, InterruptError):
        raise
    except LapwingError as error:
        return _row(setting, site, ended=str(error))
    finally:
        shutil.rmtree(site.scratch, ignore_errors=True)


def _row(setting: Setting, site: Site, **found: Any) -> Row:
    architecture = setting.architecture
    return Row(
        setting.label, architecture.name, setting.qos, setting.devices, (setting.seed,), logs=(str(site.logs),), **found
    )


class _Run:
    """The steps of a point; in a ``with`` block, which ends whatever runs, the last started first."""

    def __init__(self, setting: Setting, site: Site, tell: Tell) -> None:
        self._setting = setting
        self._site = site
        self._tell = tell
        self._standing: list[Standing] = []
        self._watch = Watch()
        self._parts: list[Standing] = []
        self._lines: deque[dict[str, Any]] = deque()
        self._rows = 0
        self._tallies: dict[str, dict[str, int]] = {}

    def __enter__(self) -> _Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with ExitStack() as stack:  # one that cannot be stopped leaves none of the others running
            for part in self._standing:
                stack.callback(part.stop, hurry=kind is not None)

    def measure(self) -> Row:
        """From the first process to the last."""
        generator = self._start_generator()
        readings = self._until(generator, "prepared", "preparing", self._readings_expected())["readings"]
        self._start_parts()
        generator.tell({"url": self._site.url})
        self._until(generator, "online", "connecting", self._setting.devices)
        idle = self._idle()
        generator.tell({"go": True})
        begun_us = self._until(generator, "begun", "sending", readings)["at_us"]
        self._watch.begin()
        report = self._until(generator, "report", "sending", readings)
        busy = self._watch.cores()
        self._watch.sample()
        self._drain(report["fleet"]["sent"])
        self._watch.remove(generator)
        generator.tell({"end": True})
        self._stop_parts()
        for name, stress in self._watch.stress.items():
            stress.cpu_idle, stress.cpu = idle[name], busy[name]
        return self._found(readings, begun_us, report)

    def _start_generator(self) -> Process:
        setting = self._setting
        seconds = setting.warm_s + setting.seconds
        order = Order(setting.devices, seconds, setting.warm_s, setting.rate, setting.seed, setting.qos)
        module = "lapwing.lab.crowdsourcing.generator"
        part = Part("generator", "generator", process_command(module, order), lambda _process: True)
        process = part.start(self._site.logs)
        self._standing.append(process)
        self._watch.add(process)
        return process

    def _start_parts(self) -> None:
        parts = self._setting.architecture.parts(self._site)
        for number, part in enumerate(parts):
            self._tell(f"starting {part.name}", number, len(parts))
            standing = part.start(self._site.logs)
            self._standing.append(standing)
            self._parts.append(standing)
            self._watch.add(standing)

    def _idle(self) -> dict[str, float]:
        self._watch.begin()
        for waited_s in self._waits(self._setting.idle_s):
            self._tell("idle", round(waited_s * 10), round(self._setting.idle_s * 10))
        return self._watch.cores()

    def _until(self, generator: Process, event: str, phase: str, total: int) -> dict[str, Any]:
        """Waits for a line of the generator; gives it."""
        quiet_since_s = time.monotonic()
        while time.monotonic() - quiet_since_s < _PATIENCE_S:
            self._lines.extend(generator.heard())
            while self._lines:
                quiet_since_s = time.monotonic()
                line = self._lines.popleft()
                if line["event"] == event:
                    return line
                self._tell(phase, line.get("count", 0), total)
            self._look()
        what = f"the generator said nothing for {_PATIENCE_S:g} s while {phase}"
        raise TimedOutError(what, where=str(generator.log), remedy=tail(generator.log))

    def _drain(self, sent: int) -> None:
        """Until the controller has everything that was sent, or takes nothing up any more."""
        quiet_s, rows = 0.0, self._rows
        last_s = time.monotonic()
        for _waited_s in self._waits(self._setting.drain_s):
            self._tell("arriving", self._rows, sent)
            now_s = time.monotonic()
            if self._rows > rows:
                rows, last_s = self._rows, now_s
            quiet_s = now_s - last_s
            if self._rows >= sent or quiet_s > self._setting.architecture.quiet_s:
                return

    def _stop_parts(self) -> None:
        for part in reversed(self._parts):
            self._tell(f"stopping {part.name}", 0, None)
            if part.role == "broker":
                self._settle(part)
            self._watch.sample()
            self._tallies[part.name] = dict(part.tally())
            self._watch.remove(part)
            code = part.stop()
            if code and part.role in ("controller", "bridge"):
                raise PartEndedError(f"{part.name} ended with code {code}", where=str(part.log), remedy=tail(part.log))

    def _settle(self, broker: Standing) -> None:
        """Until the broker knows that everybody else has gone: then what it held for them is counted."""
        for _waited_s in self._waits(_SETTLE_S):
            self._watch.sample()
            if not self._watch.last(broker.name).total("lapwing_connections"):
                return

    def _waits(self, seconds: float) -> Iterator[float]:
        begun_s = time.monotonic()
        while (waited_s := time.monotonic() - begun_s) < seconds:
            yield waited_s
            self._look()

    def _look(self) -> None:
        self._watch.look()
        for part in self._parts:
            if isinstance(part, Process):
                self._rows += sum(line.get("rows", 0) for line in part.heard())
        time.sleep(_LOOK_S)

    def _readings_expected(self) -> int:
        setting = self._setting
        return round(setting.devices * (setting.warm_s + setting.seconds) * setting.rate)

    def _found(self, due: int, begun_us: int, report: dict[str, Any]) -> Row:
        fleet = report["fleet"]
        setting, architecture = self._setting, self._setting.architecture
        answer = architecture.answer(self._site.answer)
        evidence = Evidence(setting.qos, due, fleet, answer, self._watch.metrics, self._tallies)
        balance: Balance = architecture.balance(evidence)
        from_us = begun_us + round(setting.warm_s * 1e6)
        stress = list(self._watch.stress.values())
        for each in stress:
            each.dropped = drops(each, evidence)
        return _row(
            setting,
            self._site,
            balance=balance,
            latency=latencies(answer.clocks, from_us, from_us + round(setting.seconds * 1e6)),
            schedule=Schedule.of(report["measured"], fleet["schedule"]),
            stress=stress,
            answer=answer.to_json(),
        )
