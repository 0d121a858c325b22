"""The contracts of misses and dead letters: what is taken, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lapwing.contracts.decode_late import decode_dead_letter, decode_miss, is_dead_letter
from lapwing.contracts.late import DEAD_LETTER, property_name

MISS: dict[str, Any] = {
    "group": "alarms", "filter": "alarms/#", "topic": "alarms/fire/7", "client_id": "analyser-3", "lane": "critical",
    "deadline_ms": 250, "took_ms": 312, "at_us": 1_767_225_600_000_000,
}  # fmt: skip
LETTER = {"reason": "deadline_passed", "group": "alarms", "topic": "alarms/door", "age-ms": "1250"}


def properties(**changes: str | None) -> list[dict[str, str]]:
    said = LETTER | {name.replace("_", "-"): value for name, value in changes.items()}
    return [{"name": f"lapwing-{name}", "value": value} for name, value in said.items() if value is not None]


def test_a_miss_is_taken_with_what_nobody_knows_beside_it() -> None:
    found = decode_miss(json.dumps(MISS | {"took_ms": 312.5, "newer": [1]}).encode())
    assert found is not None
    assert (found.group, found.lane, found.took_ms, found.client_id) == ("alarms", "critical", 312.5, "analyser-3")


@pytest.mark.parametrize("changes", [{"client_id": None}, {"client_id": ...}])
def test_a_message_that_waited_too_long_has_no_member(changes: dict[str, Any]) -> None:
    said = {name: value for name, value in (MISS | changes).items() if value is not ...}
    found = decode_miss(json.dumps(said).encode())
    assert found is not None
    assert found.client_id is None


@pytest.mark.parametrize(
    "changes",
    [
        {"group": ...}, {"group": ""}, {"group": 7}, {"lane": "high"}, {"lane": None}, {"deadline_ms": 0},
        {"deadline_ms": 86_400_001}, {"deadline_ms": "250"}, {"took_ms": -1}, {"took_ms": True}, {"at_us": 1.5},
        {"at_us": 2**53},
    ],
)  # fmt: skip
def test_what_breaks_the_contract_is_no_miss(changes: dict[str, Any]) -> None:
    said = {name: value for name, value in (MISS | changes).items() if value is not ...}
    assert decode_miss(json.dumps(said).encode()) is None


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"\xff", b'{"x": "\xff"}', b"1", b"[" * 100_000])
def test_what_is_no_json_is_no_miss(payload: bytes) -> None:
    assert decode_miss(payload) is None


def test_a_dead_letter_is_told_by_its_properties() -> None:
    found = decode_dead_letter([{"name": "trace", "value": "1"}, *properties()])
    assert found is not None
    assert (found.reason, found.group, found.topic, found.age_ms) == ("deadline_passed", "alarms", "alarms/door", 1250)
    assert [property_name(field) for field in DEAD_LETTER] == [each["name"] for each in properties()]
    assert is_dead_letter(properties())
    assert not is_dead_letter(properties(reason=None))


def test_the_broker_s_word_counts_where_a_publisher_used_the_name() -> None:
    forged = [{"name": "lapwing-group", "value": "other"}, {"name": "lapwing-age-ms", "value": "x"}]
    found = decode_dead_letter([*forged, *properties()])
    assert found is not None
    assert (found.group, found.age_ms) == ("alarms", 1250)


@pytest.mark.parametrize(
    "changes",
    [{"group": None}, {"topic": ""}, {"age_ms": "-1"}, {"age_ms": "x"}, {"age_ms": None}, {"reason": "r" * 65}],
)
def test_what_breaks_the_contract_is_no_dead_letter(changes: dict[str, str | None]) -> None:
    assert decode_dead_letter(properties(**changes)) is None
