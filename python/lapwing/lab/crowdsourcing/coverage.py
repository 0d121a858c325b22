"""The coverage job's rules without Spark: what one process that reads a topic by itself has to keep.

The rules are those of the job, by the same functions: what breaks the contract goes to quarantine, repeats are known by
(device, boot, serial) from bit masks, gaps and late fills are counted per minute, tiles per quarter of an hour.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.decode import decode_readings
from lapwing.contracts.tables import SEEN, TABLES
from lapwing.pipeline.jobs.aggregates import aggregates
from lapwing.pipeline.transforms.coverage import SERVED_DBM
from lapwing.pipeline.transforms.repeats import classify, marks

PARTS_MAX = 64
"""Parts of an aggregate that wait; then they are joined: joining costs by the row, and rows repeat."""

_SEEN_SCHEMA = pa.schema(list(SEEN.arrow_schema()))
_TIME = pa.timestamp("us", "UTC")
_CLOCKS = ("sent_at", "ingress_at", "observed_at")


class Seen:
    """Which serials have arrived: bit masks by device, so that a batch costs what it holds, not what there is."""

    def __init__(self) -> None:
        self._blocks: dict[str, dict[tuple[int, int], tuple[int, bytes | None]]] = defaultdict(dict)

    def of(self, devices: list[str]) -> pa.Table:
        """Rows of ``SEEN`` of these devices."""
        rows = [
            (device, boot, block, mask, prints)
            for device in devices
            for (boot, block), (mask, prints) in self._blocks.get(device, {}).items()
        ]
        columns = zip(*rows, strict=True) if rows else ([],) * len(_SEEN_SCHEMA)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, _SEEN_SCHEMA, strict=True)]
        return pa.table(arrays, schema=_SEEN_SCHEMA)

    def add(self, new: pa.Table) -> None:
        """Adds the bits of ``marks``."""
        for device, boot, block, mask, prints in zip(*(column.to_pylist() for column in new.columns), strict=True):
            blocks = self._blocks[device]
            known, said = blocks.get((boot, block), (0, None))
            blocks[boot, block] = known | mask, _either(said, prints)


def _either(one: bytes | None, other: bytes | None) -> bytes | None:
    if one is None or other is None:
        return one or other
    return (int.from_bytes(one) | int.from_bytes(other)).to_bytes(len(one))


class Coverage:
    """The tables of the job in memory, and the clocks of each reading.

    Attributes:
        received: Messages that came, of any kind.
        quarantined: Of them those that break the contract, or have a serial of another.
        repeated: Of them those that had come before.
        lost: Serials that are missing: gaps less late fills.
    """

    def __init__(self) -> None:
        self.received = self.quarantined = self.repeated = self.lost = 0
        self._seen = Seen()
        self._aggregates = aggregates(SERVED_DBM)
        self._rows = {
            each.name: pa.schema(list(TABLES[each.name].arrow_schema())).empty_table() for each in self._aggregates
        }
        self._parts: dict[str, list[pa.Table]] = {each.name: [] for each in self._aggregates}
        self._clocks: list[pa.Table] = []

    def add(self, payloads: list[bytes], ingress_us: list[int | None], observed_us: list[int]) -> None:
        """Takes messages in, in the order in which they came.

        Args:
            ingress_us: When the broker took each in; None where it does not say: then ``observed_us`` stands for it.
            observed_us: When this process took each up.
        """
        table = self._parsed(payloads, ingress_us, observed_us)
        self.received += len(payloads)
        valid = table.filter(table["reason"].is_null())
        self.quarantined += len(payloads) - valid.num_rows
        if not valid.num_rows:
            return
        classified = classify(valid, self._seen.of(pc.unique(valid["device"]).to_pylist()))
        self._seen.add(marks(classified))
        self.repeated += _sum(classified["repeated"])
        self.quarantined += _sum(classified["reused"]) + _sum(classified["jumped"])
        self.lost += _sum(classified["gap"]) - _sum(classified["recovered"])
        for each in self._aggregates:
            self._parts[each.name].append(each.part(classified))
            if len(self._parts[each.name]) >= PARTS_MAX:
                self._join(each.name)
        first = classified.filter(classified["first"])
        known = pc.if_else(first["ingress_known"], first["ingress_at"], pa.scalar(None, _TIME))
        self._clocks.append(pa.table([first["sent_at"], known, first["observed_at"]], names=list(_CLOCKS)))

    def tables(self) -> dict[str, pa.Table]:
        """The aggregates as they stand: ``coverage``, ``latency``, ``quality``."""
        for each in self._aggregates:
            self._join(each.name)
        return dict(self._rows)

    def clocks(self) -> pa.Table:
        """One row per reading, first copies only: ``sent_at``, ``ingress_at`` (null: not told), ``observed_at``."""
        schema = pa.schema([(name, _TIME) for name in _CLOCKS])
        return pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in self._clocks)])

    def _parsed(self, payloads: list[bytes], ingress_us: list[int | None], observed_us: list[int]) -> pa.Table:
        count = len(payloads)
        decoded = decode_readings(pa.array(payloads, pa.binary()))
        told = pa.array(ingress_us, pa.int64())
        observed = pa.array(observed_us, pa.int64())
        ingress = pc.coalesce(told, observed).cast(_TIME)
        extra: dict[str, Any] = {
            "ingress_at": ingress,
            # A plain subscriber sees no log: what is written there is written as it comes in.
            "appended_at": ingress,
            "observed_at": observed.cast(_TIME),
            "ingress_known": told.is_valid(),
            "partition": pa.array(np.zeros(count, dtype=np.int32)),
            "offset": pa.array(np.arange(self.received, self.received + count)),
        }
        table = pa.Table.from_batches([decoded])
        for name, column in extra.items():
            table = table.append_column(name, column)
        return table

    def _join(self, name: str) -> None:
        parts = self._parts[name]
        if parts:
            aggregate = next(each for each in self._aggregates if each.name == name)
            stored = self._rows[name]
            apart = aggregate.apart(stored)
            self._rows[name] = aggregate.joined(pa.concat_tables([*parts, apart]))
            self._parts[name] = []


def _empty(table: str) -> pa.Table:
    return pa.schema(list(TABLES[table].arrow_schema())).empty_table()


def _sum(column: pa.ChunkedArray) -> int:
    return int(np.sum(column.to_numpy())) if len(column) else 0
