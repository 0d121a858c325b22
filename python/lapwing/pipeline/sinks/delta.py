"""One Delta table, written with delta-rs: no jar, on one machine."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from lapwing.contracts.fields import Record
from lapwing.contracts.tables import PARTITIONED
from lapwing.pipeline.errors import ConflictError, TableError, unusable_table
from lapwing.pipeline.sinks.columns import delta_schema, why_unfit
from lapwing.pipeline.sinks.commits import commit_mark, first_line
from lapwing.pipeline.sinks.doors import for_data, made, opened
from lapwing.pipeline.sinks.files import PARQUET, WrittenFile, read_batches, write_parts
from lapwing.pipeline.sinks.housekeeping import compact, vacuum
from lapwing.pipeline.sinks.known_again import NotTheTableError, known_again
from lapwing.pipeline.sinks.layout import held_files, may_hold, times_of
from lapwing.pipeline.sinks.paths import table_files
from lapwing.pipeline.sinks.positions import Positions
from lapwing.pipeline.sinks.rewrite import Joined, merge_by_name, rewritable, rewrite, rewrite_joined
from lapwing.pipeline.transforms.days import DAY

_LOG = logging.getLogger("lapwing.pipeline")
VERSION_KEY = "lapwing.record.version"
_CONFIGURATION = {"delta.enableDeletionVectors": "false", "delta.checkpointInterval": "50"}
# Who deletes rows need not begin again because of rows that were appended meanwhile, each second. Spark takes any case;
# delta-rs 1.6 knows the level with a small first letter only.
_APPENDED = {"delta.isolationLevel": "writeSerializable"}
_BLIND: dict[str, Any] = {"isBlindAppend": True}
"""What such a commit says of itself: new files, for which nothing was read."""
LOG_KEPT = "delta.logRetentionDuration"
"""How long commits stay in the log that no state needs any more."""
_COMMITS_MAX = 10
"""So often an append is tried where others write at the same moment."""


class DeltaSink:
    """A table at ``folder`` with the columns of ``record``; made when it is not there.

    Args:
        folder: Of the table; a local path.
        record: Its columns.
        keys: What makes a row of an aggregate; empty for tables that are appended to.

    Raises:
        TableError: The folder cannot be written, or holds a table with other columns.
    """

    log_kept: ClassVar[str] = "interval 2 hours"
    """Twice as long as files that no version needs. Delta's 30 days are 2.6 million commits with one a second, and each
    look at the log lists them."""

    def __init__(self, folder: Path, record: Record, keys: Sequence[str] = ()) -> None:
        self.record = record
        self.folder = folder
        self._keys = tuple(keys)
        self._schema = pa.schema(list(record.arrow_schema()))
        self._table = self._open()
        self._positions = Positions(self._table, folder, record.name)
        self._marked = self.version, commit_mark(folder, self.version)

    def positions(self, stream_uuid: str, partitions: Sequence[int]) -> dict[int, int]:
        """Per partition the offset up to which this table is done; 0 for one it has not met."""
        return self._positions.done(stream_uuid, partitions)

    def knows(self, stream_uuid: str, partitions: Sequence[int]) -> bool:
        """Whether a commit has said a position of that stream, be it 0."""
        return self._positions.knows(stream_uuid, partitions)

    def begin(self, stream_uuid: str, done: Mapping[int, int], starts: Mapping[int, int]) -> None:
        """Commits where a job begins with a stream: it has nothing to do up to ``done``, and cannot know what was
        before ``starts``.
        """
        said = self._positions.begun(stream_uuid, done, starts)
        properties = CommitProperties(custom_metadata=_BLIND, app_transactions=said)
        try:
            self._table.create_write_transaction([], "append", self._table.schema(), commit_properties=properties)
        except DeltaError as error:
            raise self._gone(error) from None
        self._take_up()

    def starts(self, stream_uuid: str, partitions: Sequence[int]) -> dict[int, int]:
        """Per partition what `begin` has said of it; 0: the job has read it from its first message."""
        return self._positions.starts(stream_uuid, partitions)

    def from_zero(self, stream_uuid: str, partitions: Sequence[int]) -> set[int]:
        """The partitions that `begin` has said 0 of."""
        return self._positions.from_zero(stream_uuid, partitions)

    @property
    def is_by_day(self) -> bool:
        """Whether it is partitioned by day; tables of version 1 are not."""
        return DAY in self._table.metadata().partition_columns

    def untouched(self) -> bool:
        """Whether nothing was committed since the table was made."""
        return bool(self._table.version() == 0)

    def files(self) -> list[str]:
        """Paths of the files that make up the table now; later commits leave them alone for an hour."""
        return [str(path) for path in table_files(self._table, self.folder)]

    def rows(self) -> int:
        """How many rows the table has."""
        return int(self._table.count())

    def read(
        self,
        column: str | None = None,
        among: pa.Array | None = None,
        columns: Sequence[str] | None = None,
        where: pc.Expression | None = None,
    ) -> pa.Table:
        """The table, or some ``columns`` of it; with ``column`` only the rows whose value there is ``among`` some.

        ``where``: Only rows for which it holds; about columns of times and numbers. No more rows than these are held.
        """
        files = self.files() if column is None else self._files_with(column, among)
        if not files:
            return self._schema.empty_table().select(self._schema.names if columns is None else list(columns))
        kept = self._schema.names if columns is None else list(columns)
        found = ds.dataset(files, schema=self._schema, format=PARQUET)
        if column is None:
            return found.to_table(columns=kept, filter=where)
        if pa.types.is_string(self._schema.field(column).type):
            # Not pushed down: delta-rs writes statistics of texts as views, which Arrow cannot compare with texts.
            wanted, scanner = pc.unique(among), found.scanner(filter=where)
            rows = (each.filter(pc.is_in(each.column(column), value_set=wanted)) for each in scanner.to_batches())
            return pa.Table.from_batches(rows, scanner.projected_schema).select(kept)
        isin = ds.field(column).isin(pc.unique(among))
        return found.to_table(columns=kept, filter=isin if where is None else isin & where)

    def _files_with(self, column: str, among: pa.Array | None) -> list[str]:
        """Those that may have such rows, by what the log says of times."""
        if not pa.types.is_timestamp(self._schema.field(column).type):
            return self.files()
        held = held_files(self._table, column)
        if not all(file.is_plain for file in held):
            return self.files()
        return [str(self.folder / file.path) for file in may_hold(held, times_of(among))]

    def append(
        self,
        files: Sequence[WrittenFile],
        stream_uuid: str,
        done: Mapping[int, int],
        *,
        besides: Mapping[str, Mapping[int, int]] = {},
    ) -> int:
        """Commits files that lie in `folder`; the table is then done up to the offsets ``done``, and in other streams
        up to those ``besides``. Returns their rows.
        """
        self._commit("append", files, {**besides, stream_uuid: done})
        return sum(file.rows for file in files)

    def merge(self, rows: pa.Table, stream_uuid: str, done: Mapping[int, int]) -> int:
        """Puts complete rows in place of those with the same key; returns how many rows that were."""
        if not rows.num_rows:
            return 0
        whole = rows.cast(self._schema)
        if rewritable(self._table, self._schema):
            found = rewrite(self._table, self.folder, self._schema, self._keys, whole)
            self._commit("append", found.added, {stream_uuid: done}, found.removals())
        else:
            self._merge_by_name(whole, stream_uuid, done)
        return int(rows.num_rows)

    def _merge_by_name(self, rows: pa.Table, stream_uuid: str, done: Mapping[int, int]) -> None:
        try:
            with for_data(self._table, self.folder) as (table, hooks):
                merge_by_name(table, self._keys, rows, self._properties({stream_uuid: done}), hooks)
        except CommitFailedError as error:
            raise self._conflict(error) from None
        except DeltaError as error:
            others = commit_mark(self.folder, self.version + 1) is not None  # OPTIMIZE, and a VACUUM that keeps nothing
            raise (self._conflict(error) if others else self._gone(error)) from None
        self._take_up()

    def replace(self, rows: pa.Table) -> None:
        """Puts ``rows`` in place of all there is, which says the same; positions stay."""
        # delta-rs takes away the files that it knows of: those that somebody else has made of them would stay.
        self.refresh()
        self._overwrite([rows])

    def join(self, joined: Joined, *, everything: bool = False) -> None:
        """Puts one file in place of the small ones, in which rows stand as ``joined`` makes them; positions stay.

        ``everything``: In place of all files.
        """
        self.refresh()
        if not everything and rewritable(self._table, self._schema):
            found = rewrite_joined(self._table, self.folder, self._schema, joined)
            self._commit("append", found.added, {}, found.removals())
        else:
            self._overwrite(joined(read_batches(self.files(), self._schema)))

    def _overwrite(self, parts: Iterable[pa.Table]) -> None:
        self._commit("overwrite", [write_parts(parts, self._schema, self.folder)], {})

    def compact(self) -> None:
        """Makes few files of many, and deletes what no version of the last hour needs.

        Where somebody else does the same at this moment, it is done by him.
        """
        self.refresh()
        with self._another_time("files stay many"):
            compact(self._table, self.folder, is_aggregate=bool(self._keys))
        self.clean()

    def clean(self) -> None:
        """Deletes what no version of the last hour needs; another time where that cannot be now."""
        with self._another_time("old files stay"):
            vacuum(self._table, self.folder)

    @contextmanager
    def _another_time(self, meanwhile: str) -> Iterator[None]:
        """For what need not be done now: others delete the same files, or the disk is full; the rows stay."""
        try:
            yield
        except CommitFailedError:
            pass
        except (DeltaError, OSError) as error:
            _LOG.warning("table %s: %s for now: %s", self.record.name, meanwhile, first_line(error))

    def refresh(self) -> None:
        """Takes up what others have committed.

        Raises:
            TableError: The table is gone, or is not what it was: see `why_unfit`.
        """
        try:
            table = known_again(self._table, self.folder, *self._marked)
            if table is not self._table:
                self._table, self._positions = table, Positions(table, self.folder, self.record.name)
            self._take_up()
        except (DeltaError, NotTheTableError) as error:
            raise self._gone(error) from None
        self._check_columns(self._table)

    def _take_up(self) -> None:
        self._table.update_incremental()
        self._marked = self.version, commit_mark(self.folder, self.version)

    @property
    def version(self) -> int:
        """Of the table, as it is known here."""
        return int(self._table.version())

    def _commit(
        self,
        mode: str,
        files: Sequence[WrittenFile],
        done: Mapping[str, Mapping[int, int]],
        removals: Sequence[RemoveAction] | None = None,
    ) -> None:
        """``done``: By stream. ``removals``: What goes at the same moment; None: nothing that was there counts."""
        now_ms = int(time.time() * 1000)
        actions: Any = [AddAction(f.path, f.size_bytes, dict(f.partition), now_ms, True, f.stats()) for f in files]
        actions += removals or ()
        # delta-rs does not see that somebody else has compacted a file that goes: no commit may come between.
        blind = mode == "append" and removals is None
        strict = not blind
        tries = _COMMITS_MAX if blind else 1
        for left in reversed(range(tries)):
            if not all((self.folder / file.path).exists() for file in files):
                # VACUUM deletes what no commit names; with a retention it leaves young files alone.
                raise self._conflict("files were deleted before they were committed; does a VACUUM keep nothing?")
            try:
                properties = self._properties(done, strict=strict, blind=blind)
                self._table.create_write_transaction(actions, mode, self._table.schema(), commit_properties=properties)
            except CommitFailedError as error:
                # New files do not depend on what was there: a row that was deleted meanwhile is nothing to them.
                if not left:
                    raise self._conflict(error) from None
                self.refresh()
            except DeltaError as error:
                raise self._gone(error) from None
            else:
                break
        self._take_up()

    def _conflict(self, told: object) -> ConflictError:
        return ConflictError(
            f"somebody else has changed table {self.record.name} meanwhile: {first_line(told)}",
            where=str(self.folder),
            remedy="run it again, it goes on where it was; let others write less often",
        )

    def _properties(
        self, done: Mapping[str, Mapping[int, int]], *, strict: bool = False, blind: bool = False
    ) -> CommitProperties:
        return CommitProperties(
            custom_metadata=_BLIND if blind else None,
            max_commit_retries=0 if strict else None,
            app_transactions=[said for uuid, at in done.items() for said in self._positions.said(uuid, at)],
        )

    def _open(self) -> DeltaTable:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            table = self._found() or self._made()
        except OSError as error:
            raise self._unusable(f"{error.strerror or error}", "give an --out that this user may write") from None
        except DeltaError as error:
            raise self._unusable(first_line(error), "move the folder away, or give another --out") from None
        self._check_columns(table)
        return table

    def _check_columns(self, table: DeltaTable) -> None:
        wrong = why_unfit(table, self.record)
        if wrong:
            raise self._unusable(*wrong)

    def _found(self) -> DeltaTable | None:
        try:
            return opened(self.folder)
        except TableNotFoundError:
            return None

    def _made(self) -> DeltaTable:
        kind = {} if self._keys else _APPENDED
        return made(
            self.folder,
            delta_schema(self.record),
            name=self.record.name,
            partition_by=[DAY] if self.record.name in PARTITIONED else None,
            configuration={**_CONFIGURATION, **kind, LOG_KEPT: self.log_kept, VERSION_KEY: str(self.record.version)},
            raise_if_key_not_exists=False,
        )

    def _gone(self, told: object) -> TableError:
        return self._unusable(first_line(told), "bring it back, or give another --out")

    def _unusable(self, what: str, remedy: str) -> TableError:
        return unusable_table(self.record.name, self.folder, what, remedy)
