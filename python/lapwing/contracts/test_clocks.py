"""Can every clock that a device may name be read, and is what can be a date left as it is?"""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from lapwing.contracts.clocks import DATE_US_MAX, DATE_US_MIN, with_dates

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def envelopes(*sent_at_us: int | None) -> pa.RecordBatch:
    column = pa.array(sent_at_us, pa.int64()).cast(pa.timestamp("us", "UTC"))
    return pa.record_batch({"offset": pa.array(range(len(column)), pa.int64()), "sent_at": column})


@pytest.mark.parametrize("beyond", [DATE_US_MIN - 1, DATE_US_MAX + 1, 2**63 - 1, -(2**63)])
def test_what_no_date_can_be_is_null(beyond: int) -> None:
    found = with_dates(envelopes(DATE_US_MIN, beyond, None, DATE_US_MAX))
    assert found.schema == envelopes().schema
    assert found["offset"].to_pylist() == [0, 1, 2, 3]
    assert found["sent_at"].to_pylist() == [FIRST, None, None, LAST]


@pytest.mark.parametrize("dates", [(), (None,), (0, None, DATE_US_MAX)])
def test_dates_are_left_alone(dates: tuple[int | None, ...]) -> None:
    batch = envelopes(*dates)
    assert with_dates(batch) is batch
