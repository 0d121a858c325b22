"""What the lab encodes is what the contract says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lapwing.contracts.reading import READING
from lapwing.lab.payload import FIELDS, encode, encode_columns, number_column, rfc3339, rfc3339_column


def test_the_fields_are_the_contracts_in_its_order() -> None:
    assert list(FIELDS) == READING.names


def test_both_encoders_write_the_same_bytes() -> None:
    reading = dict.fromkeys(FIELDS) | {"device": 'é"1', "boot": 3, "lat": 51.5, "sent_at": rfc3339(1)}
    columns = {name: [json.dumps(value, ensure_ascii=False)] for name, value in reading.items()}
    assert encode_columns(columns) == [encode(reading)]


def test_what_is_missing_is_null() -> None:
    assert json.loads(encode({"device": "d"}))["rsrp_dbm"] is None


def test_a_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"lat": float("nan")})


def test_times_have_a_zone_and_microseconds() -> None:
    at_us = 1_575_205_500_000_001
    assert rfc3339(at_us) == "2019-12-01T13:05:00.000001Z"
    assert rfc3339_column(np.array([at_us])) == [f'"{rfc3339(at_us)}"']


def test_unknown_numbers_are_null() -> None:
    assert number_column(np.array([1.25, 2.0]), 1, np.array([True, False])) == ["1.2", "null"]
