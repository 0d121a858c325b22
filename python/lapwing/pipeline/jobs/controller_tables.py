"""The controller's tables: those of ``coverage``, what it has to know of places and devices, and its commands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from pyspark.sql import DataFrame

from lapwing.contracts.command_tables import COMMAND_KEYS, COMMAND_TABLES
from lapwing.contracts.fields import Record
from lapwing.pipeline.commands.desk import CommandDesk, Moment
from lapwing.pipeline.jobs.aggregates import OF_CONTROLLER
from lapwing.pipeline.jobs.coverage_tables import CoverageTables
from lapwing.pipeline.jobs.progress import BatchProgress
from lapwing.pipeline.jobs.reach import Oldest
from lapwing.pipeline.jobs.recent_table import RecentTable
from lapwing.pipeline.jobs.stream_job import Hook
from lapwing.pipeline.sinks.delta import DeltaSink

_WHEN = {"places": "last_seen", "whereabouts": "seen_at"}
"""By which time a row is old."""
_OWN = {name: COMMAND_TABLES[name] for name in _WHEN}


@dataclass(frozen=True, slots=True)
class ControllerProgress(BatchProgress):
    """One micro-batch, done and decided."""

    commands: int = 0
    """New ones."""
    states: Mapping[str, int] = field(default_factory=dict)
    """Commands that are open or of the last hour, by state."""
    devices: int = 0
    """Registered, there or not."""
    troubles: Mapping[str, int] = field(default_factory=dict)
    """What was not taken since the start of the run: registrations, answers, commands, rows beyond a limit; by name."""

    def told(self) -> str:
        """For people: what it brought."""
        # Not super(): a dataclass with slots is another class than the one that was written.
        brought = BatchProgress.told(self)
        return f"{brought}, {self.commands:,} commands" if self.commands else brought


class ControllerTables(CoverageTables):
    """See `CoverageTables`; a batch is decided once its tables stand.

    Args:
        folder: Holds one folder per table.
        stream_uuid: What the positions in the tables belong to.
        partitions: The stream's partitions.
        desk: Decides, and writes ``outbox`` and ``commands``.
        checkpoint: Spark's: it knows the batch's time.
        memory_s: See `Policy.memory_s`; older rows of ``places`` and ``whereabouts`` are let go.
        served_dbm: From this RSRP on a place counts as served.
        oldest: See `lapwing.pipeline.jobs.reach.trimmed`.
        first: See `lapwing.pipeline.jobs.reach.holes`.
        committed: See `Hook`.
    """

    def __init__(
        self,
        folder: Path,
        stream_uuid: str,
        partitions: Sequence[int],
        *,
        desk: CommandDesk,
        checkpoint: Path,
        memory_s: float,
        served_dbm: int,
        oldest: Oldest | None,
        first: Oldest | None,
        committed: Hook,
    ) -> None:
        self._memory_s = memory_s
        self._recent: dict[str, RecentTable] = {}
        super().__init__(
            folder,
            stream_uuid,
            partitions,
            served_dbm=served_dbm,
            oldest=oldest,
            first=first,
            committed=committed,
            besides=OF_CONTROLLER,
            records=_OWN,
            keys=COMMAND_KEYS,
        )
        self._desk = desk
        self._checkpoint = checkpoint

    def write(self, rows: DataFrame, batch: int) -> ControllerProgress:
        """Writes a batch, then decides, unless a run before has."""
        told = super().write(rows, batch)
        moment = Moment(batch, _time_us(self._checkpoint, batch), self._uuid, told.done)
        for table in self._recent.values():
            table.forget(moment.at_us)
        decided = self._desk.decide(moment, self._recent["places"].read, self._recent["whereabouts"].read)
        known = {each.name: getattr(told, each.name) for each in fields(told)}
        return ControllerProgress(
            **known,
            commands=decided,
            states=self._desk.states(),
            devices=self._desk.devices(),
            troubles={**self._desk.troubles(), **self._surplus()},
        )

    def _opened(self, folder: Path, record: Record, keys: Sequence[str]) -> DeltaSink:
        if record.name not in _WHEN:
            return super()._opened(folder, record, keys)
        made = RecentTable(folder, record, keys, when=_WHEN[record.name], kept_s=self._memory_s)
        self._recent[record.name] = made
        return made

    def _surplus(self) -> dict[str, int]:
        return {f"surplus_{name}": table.surplus for name, table in self._recent.items()}

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {**super().rows(), **self._desk.rows()}

    def tidy(self, *, every_batches: int = 1) -> None:
        """Makes few files of many: between batches, never within one."""
        super().tidy(every_batches=every_batches)
        if self._batches % every_batches == 0:
            self._desk.tidy()


def _time_us(checkpoint: Path, batch: int) -> int:
    """The batch's time, which Spark has pinned there: the same when it comes again."""
    pinned = json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[1])
    return int(pinned["batchTimestampMs"]) * 1000
