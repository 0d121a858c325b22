"""The tables ``outbox`` and ``commands``: what was decided, and how it stands. The desk's; used under its lock.

Both keep every command for good: they are results. A start reads what a run can still use, and no more: commands that
are open, those that ended lately, and rows of ``outbox`` that have no state yet, because the job was killed in between.
Whether there are any of these, the commits tell: each of ``outbox`` says how many rows it was ever given, and each of
``commands`` how many of them have a state. Rows cannot be counted for that: somebody may have a device forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.command_tables import COMMAND_KEYS, COMMANDS, OUTBOX
from lapwing.pipeline.commands.entry import FAILED, Entry
from lapwing.pipeline.errors import ConflictError
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.files import write_file

_SETTLED = "outbox"
"""What both tables call the source of ``commands``; there is one partition, and its offsets are numbers of rows."""
_CONFLICTS_MAX = 5
"""So often states are put into ``commands`` again where somebody else has changed it meanwhile (OPTIMIZE, VACUUM)."""
_TIME = pa.timestamp("us", "UTC")


class CommandBook:
    """The tables under ``folder``; this is their one writer.

    Raises:
        TableError: See `DeltaSink`.
    """

    def __init__(self, folder: Path) -> None:
        self._outbox = DeltaSink(folder / OUTBOX.name, OUTBOX)
        self._commands = DeltaSink(folder / COMMANDS.name, COMMANDS, COMMAND_KEYS[COMMANDS.name])
        settled = self._commands.positions(_SETTLED, [0])[0]
        given = self._outbox.positions(_SETTLED, [0])[0] or self._outbox.rows()  # a release before did not say it
        self._is_settled = settled == given
        self._given = self._stored = max(settled, given)
        """Rows that ``outbox`` was ever given, and those of them that the desk knows of: a commit of which nobody heard
        the end is not among these."""

    def has_decided(self, stream_uuid: str, done: Mapping[int, int]) -> bool:
        """Whether a commit of ``outbox`` has said these positions of the stream, or higher ones."""
        self._outbox.refresh()  # after hours the log may not have what is known here any more
        stands = self._outbox.positions(stream_uuid, list(done))
        return all(stands[partition] >= offset for partition, offset in done.items())

    def store(self, rows: Sequence[Mapping[str, object]], stream_uuid: str, done: Mapping[int, int]) -> None:
        """Appends to ``outbox``: it is decided up to ``done`` then. The next `save` must have a state of each row."""
        written = write_file(_table(rows, OUTBOX.arrow_schema()), self._outbox.folder)
        self._given += len(rows)
        self._outbox.append([written], stream_uuid, done, besides={_SETTLED: {0: self._given}})
        self._stored += len(rows)

    def save(self, entries: Iterable[Entry]) -> None:
        """Puts their states into ``commands``; of all that was stored and has none there yet.

        Raises:
            TableError: `ConflictError`: others write there again and again.
        """
        states = _table([entry.row() for entry in entries], COMMANDS.arrow_schema())
        for left in reversed(range(_CONFLICTS_MAX + 1)):
            # Rows are complete, and nobody else has states to tell: they go into the table as it is now. After hours
            # the log may not have what is known here any more.
            self._commands.refresh()
            try:
                self._commands.merge(states, _SETTLED, {0: self._stored})
                return
            except (ConflictError, FileNotFoundError):
                if not left:
                    raise

    def restored(self, since_us: int) -> tuple[dict[str, Entry], set[str]]:
        """What a run has to know of those before, and the ids of which ``commands`` does not say so yet.

        Args:
            since_us: Commands that ended before are left out.
        """
        ended = pc.field("ended_at")
        lately = ended.is_null() | (ended >= _scalar(since_us))
        states = {row["id"]: row for row in _rows(self._commands.read(where=lately))}
        unsettled = self._unsettled()
        entries: dict[str, Entry] = {}
        replaced: list[tuple[str, str]] = []
        for row in self._stored_rows(states, unsettled):
            entries[row["id"]] = _entry(row, states.get(row["id"]))
            if row["id"] in unsettled and row["replaces"]:
                replaced.append((row["replaces"], row["id"]))
        changed = unsettled & entries.keys()
        for old, new in replaced:
            if old in entries and entries[old].state in FAILED:
                entries[old] = entries[old].with_replacement(new)
                changed.add(old)
        return entries, changed

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {sink.record.name: sink.rows() for sink in (self._outbox, self._commands)}

    def tidy(self) -> None:
        """Makes few files of many."""
        self._outbox.compact()
        self._commands.compact()

    def _unsettled(self) -> set[str]:
        """Ids of ``outbox`` that ``commands`` does not have.

        Looked for only where there may be some: after a kill, and in tables of a release that did not count.
        """
        if self._is_settled:
            return set()
        ids, known = self._outbox.read(columns=["id"])["id"], self._commands.read(columns=["id"])["id"]
        return set(ids.filter(pc.invert(pc.is_in(ids, pc.unique(known)))).to_pylist())

    def _stored_rows(self, states: Mapping[str, Mapping[str, Any]], unsettled: set[str]) -> list[dict[str, Any]]:
        """The rows of ``outbox`` that these ids name."""
        wanted = states.keys() | unsettled
        if not wanted:
            return []
        # A state says when its command was decided: what is older need not be looked at.
        oldest_us = 0 if unsettled else min(row["decided_at"] for row in states.values())
        return _rows(self._outbox.read("id", _ids(wanted), where=pc.field("decided_at") >= _scalar(oldest_us)))


def _entry(stored: Mapping[str, Any], state: Mapping[str, Any] | None) -> Entry:
    if state is not None:
        return Entry(payload=stored["payload"], **state)
    known = {name: stored[name] for name in ("id", "device", "do", "tile", "payload", "decided_at", "expires_at")}
    return Entry(**known, committed_at=stored["decided_at"])


def _ids(names: Iterable[str]) -> pa.Array:
    return pa.array(sorted(names), pa.string())


def _scalar(at_us: int) -> pa.Scalar:
    return pa.scalar(at_us, _TIME)


def _table(rows: Sequence[Mapping[str, object]], schema: pa.Schema) -> pa.Table:
    arrays = [pa.array([row[field.name] for row in rows], _plain(field.type)).cast(field.type) for field in schema]
    return pa.table(arrays, schema=pa.schema(list(schema)))


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    plain = pa.schema([pa.field(field.name, _plain(field.type)) for field in table.schema])
    rows: list[dict[str, Any]] = table.cast(plain).to_pylist()
    return rows


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_timestamp(kind) else kind
