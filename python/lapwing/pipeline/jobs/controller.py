"""The job ``controller``: the job ``coverage``, and commands to the devices that can fill its gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

from lapwing.contracts.command_tables import RECENT_MAX
from lapwing.errors import ConfigError, LapwingError
from lapwing.pipeline.commands.desk import CommandDesk
from lapwing.pipeline.commands.post import Wires
from lapwing.pipeline.commands.registry import Registry
from lapwing.pipeline.jobs.controller_tables import ControllerProgress, ControllerTables
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.jobs.sink_choice import AUTO, DELTA_RS, DELTA_SPARK, chosen_sink
from lapwing.pipeline.jobs.stream_job import Hook, Trigger
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.transforms.choose import Policy

REPEAT_S = 15.0
"""A command that nobody answers is published again after so long."""

ControllerCallback = Callable[[ControllerProgress], None]


class ControllerJob(CoverageJob):
    """A running job; see `CoverageJob` and `StreamJob` for what is not here.

    ``lapwing.NAME`` in ``conf`` sets a field of `Policy`, or ``repeat_s``.

    Args:
        source: The stream.
        out: Gets tables and pictures; one job at a time, ``coverage`` or ``controller``.
        wires: Carry commands and answers.
        checkpoint: Spark's.
        trigger: See `Trigger`.
        master: Spark's master.
        conf: Settings.
        progress: Called after each batch.
        committed: For tests.
    """

    name = "controller"

    def __init__(
        self,
        source: str,
        out: Path | str,
        *,
        wires: Wires,
        checkpoint: Path | str | None = None,
        trigger: Trigger = 1.0,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: ControllerCallback | None = None,
        committed: Hook = lambda _: None,
    ) -> None:
        told: Any = progress
        super().__init__(
            source,
            out,
            checkpoint=checkpoint,
            trigger=trigger,
            master=master,
            conf=conf,
            progress=told,
            committed=committed,
        )
        self._wires = wires
        self._broken: LapwingError | None = None

    def start(self) -> Self:
        """As `StreamJob.start`; the wires are open, too."""
        try:
            return super().start()
        except BaseException:
            self._wires.close()  # where it failed before it had the folder
            raise

    def _let_go(self) -> None:
        # Before the folder is free: whoever has the wires writes commands.
        self._wires.close()
        super()._let_go()

    def _raise_failure(self) -> None:
        super()._raise_failure()
        if self._broken:  # the wires, for good
            raise self._broken

    def _take_options(self, options: dict[str, str]) -> None:
        if chosen_sink(options.get("sink", AUTO), None) == DELTA_SPARK:
            raise ConfigError(
                "the controller writes with delta-rs", where="--conf lapwing.sink", remedy="leave it out, or delta-rs"
            )
        super()._take_options({**options, "sink": DELTA_RS})
        for taken in ("sink", "served_dbm"):
            options.pop(taken, None)
        self._repeat_s = float(_number("repeat_s", options.pop("repeat_s", str(REPEAT_S)), "float"))
        self._policy = policy_of(options)

    def _made_tables(self, state: StreamState) -> ControllerTables:
        registry = Registry()
        desk = CommandDesk(
            self._out.absolute() / "tables",
            self._wires,
            registry,
            self._policy,
            repeat_s=self._repeat_s,
            committed=self._committed,
        )
        self._wires.open(_Listening(self, desk, registry))
        return ControllerTables(
            self._out / "tables",
            state.uuid,
            list(state.partitions),
            desk=desk,
            checkpoint=self._checkpoint,
            memory_s=self._policy.memory_s,
            served_dbm=self._served_dbm,
            oldest=self._oldest,
            first=self._first,
            committed=self._committed,
        )

    def _draw(self) -> list[Path]:
        from lapwing.pipeline.report import draw
        from lapwing.pipeline.report.freshness_facts import FreshnessRule

        policy = self._policy
        return draw(self._out, rule=FreshnessRule("with commands", policy.fresh_s, policy.samples_wanted))

    def _break(self, error: LapwingError) -> None:
        self._broken = error
        self._stopping.set()


class _Listening:
    """What comes over the wires goes to the desk and the registry."""

    def __init__(self, job: ControllerJob, desk: CommandDesk, registry: Registry) -> None:
        self._job, self._desk, self._registry = job, desk, registry

    def registered(self, device: str, payload: bytes, *, is_retained: bool) -> None:
        self._registry.heard(device, payload, is_retained=is_retained)

    def all_registered(self, devices: Set[str]) -> None:
        self._registry.keep_only(devices)

    def answered(self, answers: Sequence[tuple[str, bytes]]) -> None:
        self._desk.answered(answers)

    def tick(self) -> None:
        self._desk.follow_up()

    def broken(self, error: LapwingError) -> None:
        self._job._break(error)


def policy_of(options: dict[str, str]) -> Policy:
    """Takes the fields of `Policy` out of ``options``.

    Raises:
        ConfigError: A value is no number, or out of range.
    """
    given = {each.name: (options.pop(each.name), str(each.type)) for each in fields(Policy) if each.name in options}
    policy = Policy(**{name: _number(name, text, kind) for name, (text, kind) in given.items()})
    if policy.samples_wanted > RECENT_MAX:
        raise ConfigError(f"samples_wanted = {policy.samples_wanted}", where="--conf", remedy=f"give 1 to {RECENT_MAX}")
    return policy


def _number(name: str, text: str, kind: str) -> Any:
    try:
        number = int(text) if kind == "int" else float(text)
    except ValueError:
        number = -1
    if not 0 < number < 10**9:
        raise ConfigError(f"{name} = {text!r}", where="--conf", remedy="give a number above 0 and below 1000000000")
    return number
