"""What keeps tables small, beside a job or without one: few files, no old days, no device that asked to go.

A job may run meanwhile, or begin: it takes up what is committed here, and writes again what was in the way. Only what
it holds in memory is its own while it runs: the table ``seen``, and the devices of the controller's tables. One that
begins while these are at hand waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError

from lapwing.contracts.command_tables import COMMAND_KEYS
from lapwing.contracts.late_tables import LATE_KEYS
from lapwing.contracts.tables import KEYS as TABLE_KEYS
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.forget import payload_predicates
from lapwing.pipeline.jobs.seen import make_one_file
from lapwing.pipeline.maintenance_lock import MAINTENANCE, at_work
from lapwing.pipeline.only_files import check_only_files
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.doors import for_data
from lapwing.pipeline.sinks.housekeeping import compact, vacuum
from lapwing.pipeline.tables_at_hand import (
    RECORDS,
    free_of_jobs,
    named_in_errors,
    opened_table,
    tables_of,
    unusable,
)
from lapwing.pipeline.transforms.days import DAY

DAYS: Mapping[str, str] = {
    "readings": "ingress_at",
    "quarantine": "ingress_at",
    "quality": "minute",
    "latency": "minute",
    "coverage": "window_start",
    "misses": "minute",
    "dead_letters": "minute",
}
"""The column by which a row is of a day; tables that are not named have no past."""
_AGGREGATES = {*COMMAND_KEYS, *LATE_KEYS, *TABLE_KEYS}
OF_DEVICES: Mapping[str, str] = {
    "readings": "device",
    "quality": "device",
    "quarantine": "client_id",
    "seen": "device",
    "misses": "member",
    "whereabouts": "device",
    "outbox": "device",
    "commands": "device",
}
"""The column that names a device, in `quarantine` and `misses` a client; see `lapwing.pipeline.forget`, too. The others
(`latency`, `coverage`, `places`, `dead_letters`) have no column that names one."""
_HELD = ("seen", "whereabouts", "outbox", "commands")
"""What a job has in memory: it would write a device again that is forgotten meanwhile, and publish its commands."""
_TIME = "'Timestamp(Microsecond, Some(\"UTC\"))'"
_TRIES = 10
_DAYS_MAX = 365 * 1000
"""Before the first of so many no calendar here counts, and no reading was."""


@dataclass(frozen=True, slots=True)
class Maintained:
    """One table, before and after."""

    table: str
    rows_deleted: int
    files_before: int
    files_after: int
    left_out: str = ""
    """Why it was left alone, or nobody was forgotten in it."""


@dataclass(frozen=True, slots=True)
class _Order:
    """What is asked of every table."""

    keep_days: int | None
    forget: Sequence[str]
    now: datetime

    def predicates(self, name: str, *, by_day: bool) -> Iterator[str]:
        """Of the rows of table ``name`` that go; ``by_day``: it has folders by day."""
        if self.keep_days is not None and self.keep_days < _DAYS_MAX and name in DAYS:
            first = self.now.astimezone(UTC) - timedelta(days=self.keep_days)
            if by_day:  # whole files, of which none has to be read
                yield f"{DAY} < '{first:%Y-%m-%d}'"
            else:
                yield f"{DAYS[name]} < arrow_cast('{first:%Y-%m-%dT00:00:00Z}', {_TIME})"
        if self.forget and name in OF_DEVICES:
            names = ", ".join("'" + device.replace("'", "''") + "'" for device in self.forget)
            yield f"{OF_DEVICES[name]} IN ({names})"


def maintain(
    out: Path,
    *,
    keep_days: int | None = None,
    forget: Sequence[str] = (),
    now: datetime | None = None,
    told: Callable[[TableError], None] | None = None,
) -> list[Maintained]:
    """Compacts every table under ``out``, and deletes what is asked for.

    Args:
        out: The ``--out`` of a job.
        keep_days: Rows of days (UTC) before the last so many are deleted; None: none are.
        forget: Devices whose rows are deleted.
        now: For tests.
        told: Gets what is wrong with a table, and the others are gone on with; None: it is raised.

    Raises:
        ConfigError: ``out`` has no tables.
        TableError: One cannot be read or written; or they are brought over at this moment.
    """
    found = tables_of(out)
    check_only_files(out)
    with at_work(out, MAINTENANCE):
        return _each_maintained(out, found, _Order(keep_days, forget, now or datetime.now(UTC)), told)


def _each_maintained(
    out: Path, found: Sequence[Path], order: _Order, told: Callable[[TableError], None] | None
) -> list[Maintained]:
    done: list[Maintained] = []
    for folder in found:
        is_held = folder.name == "seen" or (bool(order.forget) and folder.name in _HELD)
        memory = free_of_jobs(out, MAINTENANCE) if is_held else nullcontext(True)
        try:
            with named_in_errors(folder), memory as free:
                why = _why_left(folder.name, found, done) if free else "a job runs, whose memory it is"
                done.append(_maintained(folder, order, left=why))
        except TableError as error:
            if told is None:
                raise
            told(error)
    return done


def _why_left(name: str, found: Sequence[Path], done: Sequence[Maintained]) -> str:
    """Why nobody may be forgotten in a table though no job runs; ``done``: those of ``found`` that had their turn."""
    was_outbox = any(each.table == "outbox" and not each.left_out for each in done)
    if name == "commands" and not was_outbox and any(folder.name == "outbox" for folder in found):
        return "outbox comes first: a command there that has no state would be published again"
    return ""


def _maintained(folder: Path, order: _Order, *, left: str) -> Maintained:
    name = folder.name
    table = opened_table(folder)
    before = len(table.file_uris())
    by_day = DAY in table.metadata().partition_columns
    if name == "seen" and left:
        return Maintained(name, 0, before, before, left)
    left = left if order.forget else ""
    order = replace(order, forget=()) if left else order
    deleted = sum(_deleted(folder, predicate) for predicate in order.predicates(name, by_day=by_day))
    if order.forget and name == "quarantine":
        deleted += sum(
            _deleted(folder, each) for each in payload_predicates(opened_table(folder), folder, order.forget)
        )
    if name == "seen":
        sink = DeltaSink(folder, RECORDS[name])
        if before > 1:
            make_one_file(sink)
        vacuum(opened_table(folder), folder)
    else:
        _compacted(folder)
    return Maintained(name, deleted, before, len(opened_table(folder).file_uris()), left)


def _deleted(folder: Path, predicate: str) -> int:
    def delete(table: DeltaTable) -> int:
        with for_data(table, folder) as (within, hooks):
            return int(within.delete(predicate, post_commithook_properties=hooks).get("num_deleted_rows") or 0)

    return _tried(folder, delete)


def _compacted(folder: Path) -> None:
    def fewer(table: DeltaTable) -> int:
        compact(table, folder, is_aggregate=folder.name in _AGGREGATES)
        return 0

    _tried(folder, fewer)
    vacuum(opened_table(folder), folder)


def _tried(folder: Path, change: Callable[[DeltaTable], int]) -> int:
    """Changes the table as it is now; again where a job has committed meanwhile."""
    for left in reversed(range(_TRIES)):
        try:
            return change(opened_table(folder))
        except CommitFailedError as error:
            if not left:
                raise unusable(folder, error, "the job writes too often: try again") from None
        except DeltaError as error:
            raise unusable(folder, error, "is it a table of Lapwing's?") from None
    raise AssertionError("unreachable")
