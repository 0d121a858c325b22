"""What keeps tables small, beside a job or without one: few files, no old days, no device that asked to go.

A job may run meanwhile, or begin: it takes up what is committed here, and writes again what was in the way. Only what
it holds in memory is its own while it runs: the table ``seen``, and the devices of the controller's tables. One that
begins while these are at hand waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError

from lapwing.contracts.command_tables import COMMAND_KEYS, COMMAND_TABLES
from lapwing.contracts.fields import Record
from lapwing.contracts.late_tables import LATE_KEYS, LATE_TABLES
from lapwing.contracts.tables import KEYS as TABLE_KEYS
from lapwing.contracts.tables import TABLES
from lapwing.errors import ConfigError
from lapwing.pipeline.by_day import bring_into_days, lacks_days
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.forget import payload_predicates
from lapwing.pipeline.jobs.folder import JobFolder
from lapwing.pipeline.jobs.seen import make_one_file
from lapwing.pipeline.maintenance_lock import MAINTENANCE, MIGRATION, at_work
from lapwing.pipeline.only_files import check_only_files
from lapwing.pipeline.sinks.columns import delta_schema, unreadable
from lapwing.pipeline.sinks.delta import VERSION_KEY, DeltaSink
from lapwing.pipeline.sinks.doors import for_data, opened
from lapwing.pipeline.sinks.housekeeping import compact, vacuum
from lapwing.pipeline.sinks.paths import check_folder
from lapwing.pipeline.transforms.days import DAY

RECORDS: Mapping[str, Record] = {**COMMAND_TABLES, **LATE_TABLES, **TABLES}
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
BY_DAY = "folders by day"
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
    found = _tables(out)
    check_only_files(out)
    with at_work(out, MAINTENANCE):
        return _each_maintained(out, found, keep_days, forget, now, told)


def _each_maintained(
    out: Path,
    found: Sequence[Path],
    keep_days: int | None,
    forget: Sequence[str],
    now: datetime | None,
    told: Callable[[TableError], None] | None,
) -> list[Maintained]:
    done: list[Maintained] = []
    for folder in found:
        is_held = folder.name == "seen" or (bool(forget) and folder.name in _HELD)
        memory = _free(out, MAINTENANCE) if is_held else nullcontext(True)
        try:
            with _named(folder), memory as free:
                why = _why_left(folder.name, found, done) if free else "a job runs, whose memory it is"
                done.append(_maintained(folder, keep_days, forget, now or datetime.now(UTC), left=why))
        except TableError as error:
            if told is None:
                raise
            told(error)
    return done


def migrate(out: Path) -> dict[str, list[str]]:
    """Brings tables of an earlier release over: columns that are new are null in their old rows, and what has
    folders by day today gets them. Gives by table what was done: those columns, and `BY_DAY`.

    Raises:
        ConfigError: ``out`` has no tables.
        TableError: A job or maintenance is at work there, or a table cannot be brought over.
    """
    found = _tables(out)
    with at_work(out, MIGRATION), _free(out, MIGRATION) as free:
        if not free:
            raise TableError("a job writes here", where=str(out), remedy="stop it, then migrate")
        done = {}
        for folder in found:
            with _named(folder):
                done[folder.name] = _migrated(folder)
        return done


def _tables(out: Path) -> list[Path]:
    check_folder("--out", out)
    out = out.absolute()  # one that begins with ~ or has a colon is not taken for a URL
    found = [out / "tables" / name for name in RECORDS if (out / "tables" / name / "_delta_log").is_dir()]
    if not found:
        raise ConfigError("there are no tables", where=str(out / "tables"), remedy="give the --out of a job")
    return found


@contextmanager
def _free(out: Path, work: str) -> Iterator[bool]:
    """Whether no job runs; none begins meanwhile, and one that is started is told of this ``work``."""
    folder = JobFolder.tried(out, work)
    try:
        yield folder is not None
    finally:
        if folder is not None:
            folder.release()


def _why_left(name: str, found: Sequence[Path], done: Sequence[Maintained]) -> str:
    """Why nobody may be forgotten in a table though no job runs; ``done``: those of ``found`` that had their turn."""
    was_outbox = any(each.table == "outbox" and not each.left_out for each in done)
    if name == "commands" and not was_outbox and any(folder.name == "outbox" for folder in found):
        return "outbox comes first: a command there that has no state would be published again"
    return ""


def _maintained(folder: Path, keep_days: int | None, forget: Sequence[str], now: datetime, *, left: str) -> Maintained:
    name = folder.name
    table = _opened(folder)
    before = len(table.file_uris())
    by_day = DAY in table.metadata().partition_columns
    if name == "seen" and left:
        return Maintained(name, 0, before, before, left)
    left, forget = (left, ()) if forget and left else ("", forget)
    deleted = sum(_deleted(folder, predicate) for predicate in _predicates(name, keep_days, forget, now, by_day=by_day))
    if forget and name == "quarantine":
        deleted += sum(_deleted(folder, each) for each in payload_predicates(_opened(folder), folder, forget))
    if name == "seen":
        sink = DeltaSink(folder, RECORDS[name])
        if before > 1:
            make_one_file(sink)
        vacuum(_opened(folder), folder)
    else:
        _compacted(folder)
    return Maintained(name, deleted, before, len(_opened(folder).file_uris()), left)


def _predicates(
    name: str, keep_days: int | None, forget: Sequence[str], now: datetime, *, by_day: bool
) -> Iterator[str]:
    if keep_days is not None and keep_days < _DAYS_MAX and name in DAYS:
        first = (now.astimezone(UTC) - timedelta(days=keep_days)).replace(hour=0, minute=0, second=0, microsecond=0)
        if by_day:  # whole files, of which none has to be read
            yield f"{DAY} < '{first:%Y-%m-%d}'"
        else:
            yield f"{DAYS[name]} < arrow_cast('{first:%Y-%m-%dT%H:%M:%SZ}', {_TIME})"
    if forget and name in OF_DEVICES:
        names = ", ".join("'" + device.replace("'", "''") + "'" for device in forget)
        yield f"{OF_DEVICES[name]} IN ({names})"


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
    vacuum(_opened(folder), folder)


def _tried(folder: Path, change: Callable[[DeltaTable], int]) -> int:
    """Changes the table as it is now; again where a job has committed meanwhile."""
    for left in reversed(range(_TRIES)):
        try:
            return change(_opened(folder))
        except CommitFailedError as error:
            if not left:
                raise _unusable(folder, error, "the job writes too often: try again") from None
        except DeltaError as error:
            raise _unusable(folder, error, "is it a table of Lapwing's?") from None
    raise AssertionError("unreachable")


def _migrated(folder: Path) -> list[str]:
    record, table = RECORDS[folder.name], _opened(folder)
    if foreign := unreadable(table):  # who writes its files anew would bring back what was deleted
        told = f"table {folder.name} cannot be brought over: somebody has given it {foreign}"
        raise TableError(told, where=str(folder), remedy="take that away (ALTER TABLE ... DROP FEATURE)")
    known = [column.name for column in table.schema().fields]
    new = [field for field in record if field.name not in known]
    needed = [field.name for field in new if not field.nullable]
    if needed:
        raise TableError(
            f"table {folder.name} has no column {', '.join(needed)}, which no row can be without",
            where=str(folder),
            remedy="give another --out; the stream makes the same tables again, of what retention has left",
        )
    if new:
        named = [field.name for field in new]
        table.alter.add_columns([column for column in delta_schema(record).fields if column.name in named])
    done = [field.name for field in new]
    if lacks_days(table, record.name):
        _brought_into_days(folder)
        table, done = _opened(folder), [*done, BY_DAY]
    if table.metadata().configuration.get(VERSION_KEY) != str(record.version):
        table.alter.set_table_properties({VERSION_KEY: str(record.version)}, raise_if_not_exists=False)
    return done


def _brought_into_days(folder: Path) -> None:
    try:
        bring_into_days(_opened(folder), folder)
    except (CommitFailedError, DeltaError, OSError, pa.ArrowException) as error:
        raise _unusable(folder, error, "nothing has changed; is there room for its rows a second time?") from None


def _opened(folder: Path) -> DeltaTable:
    try:
        return opened(folder)
    except (DeltaError, OSError, TableNotFoundError) as error:
        raise _unusable(folder, error, "bring it back, or remove it") from None


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Whatever goes wrong with the files of a table meanwhile is an error that names it."""
    try:
        yield
    except FileNotFoundError as error:
        gone = Path(str(error.filename or error)).name
        raise _unusable(folder, f"its file {gone} is gone", "bring it back, or give another --out") from None
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise _unusable(folder, error, "are its files whole, and may this user change them?") from None


def _unusable(folder: Path, error: object, remedy: str) -> TableError:
    told = next(iter(str(error).splitlines()), type(error).__name__)
    return TableError(f"table {folder.name} cannot be used: {told}", where=str(folder), remedy=remedy)
