"""A reading as the bytes that a device would send: one JSON object, every field of the contract, null where
unknown.

Two ways to the same form: ``encode`` for one reading (replay: any value may be missing in any row),
``encode_columns`` for a block (synthetic: one template, about 2 us a reading; ``json.dumps`` costs about
8).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

VERSION = 1

FIELDS = (
    "device", "boot", "serial", "sent_at", "measured_at", "lat", "lon", "speed_kmh", "operator", "cell",
    "network", "channel", "occupied_share", "rsrp_dbm", "rsrq_db", "snr_db", "rssi_dbm", "dl_kbps", "ul_kbps",
)  # fmt: skip
"""The fields of a reading after the version ``v``, in the order in which the lab writes them."""

Value: TypeAlias = str | int | float | None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TEMPLATE = '{"v":' + str(VERSION) + "," + ",".join(f'"{name}":%s' for name in FIELDS) + "}"


def encode(reading: Mapping[str, Value]) -> bytes:
    """One reading; fields that ``reading`` lacks are null.

    Raises:
        ValueError: a value is not finite; the contract has no word for that.
    """
    record = {"v": VERSION} | {name: reading.get(name) for name in FIELDS}
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def encode_columns(columns: Mapping[str, Sequence[str]]) -> list[bytes]:
    """A block of readings; every field of ``FIELDS`` is a column of values that are JSON already."""
    rows = zip(*(columns[name] for name in FIELDS), strict=True)
    return [(_TEMPLATE % row).encode() for row in rows]


def rfc3339(at_us: int) -> str:
    """``2019-12-01T13:05:00.000000Z``, from microseconds since the epoch."""
    return (_EPOCH + timedelta(microseconds=at_us)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def rfc3339_column(at_us: NDArray[np.int64]) -> list[str]:
    """The same as JSON strings, for a block."""
    texts = np.datetime_as_string(at_us.astype("datetime64[us]"), unit="us", timezone="UTC")
    return [f'"{text}"' for text in texts.tolist()]


def number_column(values: NDArray[np.floating], decimals: int, known: NDArray[np.bool_] | None = None) -> list[str]:
    """JSON numbers with at most so many decimals; null where ``known`` is false."""
    form = f"%.{decimals}f"
    if known is None:
        return [form % value for value in values.tolist()]
    return [
        form % value if is_known else "null" for value, is_known in zip(values.tolist(), known.tolist(), strict=True)
    ]


def string_column(names: Sequence[str], index: NDArray[np.integer]) -> list[str]:
    """JSON strings: ``names`` picked by ``index``; each name is quoted once."""
    quoted = [json.dumps(name, ensure_ascii=False) for name in names]
    return [quoted[i] for i in index.tolist()]
