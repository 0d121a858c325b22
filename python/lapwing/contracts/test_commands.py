"""Do the controller and a device understand each other, and nothing else?"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lapwing.contracts.commands import (
    PAYLOAD_BYTES_MAX,
    Answer,
    Command,
    Measure,
    Rate,
    Registration,
    Report,
    State,
    can_be_commanded,
    decode,
    encode,
    json_schemas,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ID = "0123456789ab-7-0"


@pytest.mark.parametrize(
    "record",
    [
        Registration("d", True, ("5G",), (6300,), 0.5, 2.0, State(0.5, "17/1/2", 0.5, 9)),
        Registration("d", False),
        Command(ID, "d", NOON, NOON + timedelta(seconds=60), Measure("17/1/2", 3.0, 1.0, "5G", 6300)),
        Command(ID, "d", NOON, NOON, Rate(0.1)),
        Command(ID, "d", NOON, NOON, Report()),
        Answer(ID, "d", NOON, "refused", "not_there", 0, State(battery=1.0)),
    ],
)
def test_what_is_encoded_is_decoded(record: Any) -> None:
    payload = encode(record)
    assert json.loads(payload)["v"] == 1
    assert decode(payload, type(record)) == record


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2},
        {"id": "no-id"},
        {"device": ""},
        {"answered_at": "2026-03-01T12:00:00"},
        {"outcome": "perhaps"},
        {"reason": "lazy"},
        {"readings": -1},
        {"state": {"battery": 1.5}},
        {"state": {"tile": "here"}},
    ],
)
def test_an_answer_that_breaks_the_contract_is_none(change: dict[str, Any]) -> None:
    whole = json.loads(encode(Answer(ID, "d", NOON, "done")))
    assert decode(json.dumps(whole).encode(), Answer)
    assert decode(json.dumps(whole | change).encode(), Answer) is None


@pytest.mark.parametrize("payload", [b"", b"{", b"null", b"[]", b"\xff", b'{"a": "\xff"}', b"[" * 5000])
def test_bytes_that_are_no_record_are_none(payload: bytes) -> None:
    assert decode(payload, Answer) is None


def test_what_is_too_long_is_not_looked_at() -> None:
    payload = encode(Answer(ID, "d", NOON, "done"))
    assert decode(payload + b" " * (PAYLOAD_BYTES_MAX - len(payload)), Answer)
    assert decode(payload + b" " * PAYLOAD_BYTES_MAX, Answer) is None


def test_members_that_nobody_knows_are_ignored() -> None:
    whole = json.loads(encode(Registration("d", True))) | {"colour": "red"}
    assert decode(json.dumps(whole).encode(), Registration) == Registration("d", True)


@pytest.mark.parametrize(
    ("device", "can"), [("phone-1", True), ("", False), ("a/b", False), ("+", False), ("a#", False)]
)
def test_a_device_is_one_level_of_a_topic(device: str, can: bool) -> None:
    assert can_be_commanded(device) is can


def test_there_is_a_json_schema_of_every_record() -> None:
    schemas = json_schemas()
    assert {"Registration", "Command", "Answer", "Measure", "Rate", "Report", "State"} <= schemas.keys()
    assert schemas["Answer"]["required"] == ["id", "device", "answered_at", "outcome"]
