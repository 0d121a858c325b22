"""Does every rule refuse what it names, and do decoder and rules agree on what breaks the contract?"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapwing.contracts.decode import DECODED, decode_readings
from lapwing.contracts.rules import OF_SERIALS, REASONS, RULES, breach, mended, time_us

WHOLE: dict[str, Any] = {
    "v": 1,
    "device": "d1",
    "boot": 0,
    "serial": 7,
    "sent_at": "2019-12-01T13:05:00.000000Z",
    "measured_at": "2019-12-01T13:05:00Z",
    "lat": 51.9,
    "lon": -8.5,
    "speed_kmh": 12,
    "operator": "A",
    "cell": "12",
    "network": "5G",
    "channel": 6300,
    "occupied_share": 0.25,
    "rsrp_dbm": -97,
    "rsrq_db": -11.5,
    "snr_db": 3.0,
    "rssi_dbm": -70,
    "dl_kbps": 10.5,
    "ul_kbps": 0,
}


def but(**changes: Any) -> bytes:
    """The whole reading with some members changed; ``...`` takes one away."""
    return json.dumps({k: v for k, v in (WHOLE | changes).items() if v is not ...}).encode()


def literal(texts: dict[str, str]) -> bytes:
    """The whole reading with members given as literal JSON."""
    payload = but(**{name: f"@{name}@" for name in texts}).decode()
    for name, text in texts.items():
        payload = payload.replace(f'"@{name}@"', text)
    return payload.encode()


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    """JSON within itself, deeper than any parser goes that calls itself."""
    return opening * levels + "1" + closing * levels


BROKEN = [
    (b"", "empty_payload", None),
    (b"\xff\xfe", "not_utf8", None),
    (but().replace(b'"A"', b'"\xe9"'), "not_utf8", None),
    (but(note="x").replace(b'"x"', b'"\xff"'), "not_utf8", None),
    (b" ", "not_json", None),
    (b"hello", "not_json", None),
    (b"\xef\xbb\xbf" + but(), "not_json", None),
    (str(WHOLE).encode(), "not_json", None),  # single quotes
    (literal({"lat": "NaN", "note": "NaN"}), "not_json", None),
    (literal({"snr_db": "[NaN]"}), "not_json", None),
    (literal({"snr_db": deep(3000)[:-1]}), "not_json", None),
    (literal({"note": deep(3000, '{"a":', ",}")}), "not_json", None),
    (deep(3000).encode(), "not_an_object", None),
    (literal({"serial": deep(3000)}), "wrong_type", "serial"),
    (literal({"serial": "NaN"}), "wrong_type", "serial"),
    (literal({"note": "Infinity"}), "not_json", None),
    (literal({"boot": "01"}), "not_json", None),
    (literal({"operator": '"\\ud800'}), "not_json", None),
    (but()[:-1] + b",}", "not_json", None),
    (but()[:-1], "not_json", None),
    (but() + b"{}", "trailing_bytes", None),
    (but() + but(), "trailing_bytes", None),
    (but() + b"\x00", "trailing_bytes", None),
    (b"[1]", "not_an_object", None),
    (b"null", "not_an_object", None),
    (b"7", "not_an_object", None),
    (but(v=2), "unknown_version", "v"),
    (but(v="1"), "unknown_version", "v"),
    (but(v=None), "unknown_version", "v"),
    (b"{}", "missing_field", "device"),
    (but(device=...), "missing_field", "device"),
    (but(serial=None), "missing_field", "serial"),
    (but(measured_at=...), "missing_field", "measured_at"),
    (but(serial="7"), "wrong_type", "serial"),
    (but(serial=7.0), "wrong_type", "serial"),
    (but(serial=True), "wrong_type", "serial"),
    (but(device=5), "wrong_type", "device"),
    (but(sent_at=1575205500), "wrong_type", "sent_at"),
    (literal({"device": '"d\\ud800"'}), "not_text", "device"),
    (literal({"sent_at": '"2019-12-01T13:05:00Z\\udfff"'}), "not_text", "sent_at"),
    (literal({"boot": "1" * 5000}), "out_of_range", "boot"),
    (but(sent_at="2019-12-01T13:05:00"), "time_without_zone", "sent_at"),
    (but(measured_at="2019-12-01 13:05:00.5"), "time_without_zone", "measured_at"),
    (but(sent_at="yesterday"), "not_a_time", "sent_at"),
    (but(sent_at="2019-02-29T13:05:00Z"), "not_a_time", "sent_at"),
    (but(sent_at="2019-12-01T24:00:00Z"), "not_a_time", "sent_at"),
    (but(sent_at="2019-12-01T13:05:60Z"), "not_a_time", "sent_at"),
    (but(sent_at="2019-12-01T13:05Z"), "not_a_time", "sent_at"),
    (but(device=""), "out_of_range", "device"),
    (but(device="d" * 129), "out_of_range", "device"),
    (but(serial=-1), "out_of_range", "serial"),
    (but(boot=-1), "out_of_range", "boot"),
    (but(serial=2**63), "out_of_range", "serial"),
    (but(serial=2**64 - 1), "out_of_range", "serial"),
    (but(boot=10**400), "out_of_range", "boot"),
    (but(sent_at="1969-12-31T23:59:59.999999Z"), "out_of_range", "sent_at"),
    (but(measured_at="2262-01-01T00:00:00Z"), "out_of_range", "measured_at"),
    (but(measured_at="0001-01-01T00:00:00+05:00"), "out_of_range", "measured_at"),
]

MENDED = [
    (but(lat="51.9"), "wrong_type", "lat"),
    (but(network=["5G"]), "wrong_type", "network"),
    (literal({"operator": '"\\ud800"'}), "not_text", "operator"),
    (literal({"cell": '"\\udc00\\ud83d"'}), "not_text", "cell"),
    (literal({"network": '"5G\\ud83dG"', "note": '"\\ud800"'}), "not_text", "network"),
    (literal({"speed_kmh": deep(3000)}), "wrong_type", "speed_kmh"),
    (literal({"cell": deep(100_000, '{"a": [', "]}"), "note": deep(3000)}), "wrong_type", "cell"),
    (but(lat=90.001), "out_of_range", "lat"),
    (but(lon=-180.001), "out_of_range", "lon"),
    (literal({"lat": "1e400"}), "out_of_range", "lat"),
    (literal({"lat": "NaN"}), "out_of_range", "lat"),
    (literal({"rssi_dbm": "-Infinity"}), "out_of_range", "rssi_dbm"),
    (literal({"channel": "NaN"}), "wrong_type", "channel"),
    (but(lat=10**400), "out_of_range", "lat"),
    (but(channel=-(10**400)), "out_of_range", "channel"),
    (literal({"channel": "-" + "1" * 5000}), "out_of_range", "channel"),
    (but(occupied_share=1.01), "out_of_range", "occupied_share"),
    (but(occupied_share=-0.01), "out_of_range", "occupied_share"),
    (but(rsrp_dbm=-201), "out_of_range", "rsrp_dbm"),
    (but(channel=2**31), "out_of_range", "channel"),
    (but(lat=None), "half_position", "lat"),
    (but(lon=...), "half_position", "lon"),
]
"""Optional members that break it: they become null, with a note, and cost nothing else."""

KEPT = [
    but(),
    but(v=...),
    but(lat=None, lon=None),
    but(**{name: None for name in WHOLE if name not in ("v", "device", "boot", "serial", "sent_at", "measured_at")}),
    but(note={"deep": [1, 2.5, "x", None]}),
    but(sent_at="2019-12-01T13:05:00+05:30"),
    but(device="ж" * 128),
    but(serial=2**63 - 1),
    but(lat=-90, lon=180, occupied_share=1),
    b" \r\n\t" + but() + b" \n",
    but(operator="a\nb\u0000\U0001f4f6"),
    but(rsrp_dbm=-200),
    but(rsrp_dbm=-97.5),
]


def decode_one(payload: bytes) -> dict[str, Any]:
    """The decoder's row for one payload."""
    row: dict[str, Any] = decode_readings(pa.array([payload], pa.binary())).to_pylist()[0]
    return row


@pytest.mark.parametrize(("payload", "reason", "field"), BROKEN)
def test_a_broken_payload_gets_its_reason(payload: bytes, reason: str, field: str | None) -> None:
    row = decode_one(payload)
    assert row["reason"] == reason
    assert row["field"] == field
    named = ("device", "boot", "serial")
    assert all(row[name] is None for name in DECODED.names if name not in ("reason", "field", *named))
    assert tuple(row[name] for name in named) in {("d1", 0, 7), (None, None, None)}


def test_of_what_is_broken_elsewhere_the_serial_is_known() -> None:
    """It has arrived: nobody need miss it. A serial that is itself broken says nothing."""
    for payload in (but(sent_at="yesterday"), but(measured_at=None), but() + b"{}", but(v=2)):
        row = decode_one(payload)
        assert (row["device"], row["boot"], row["serial"], row["rsrp_dbm"]) == ("d1", 0, 7, None)
    for payload in (but(serial=-1), but(serial="7"), but(serial=2**63), but(boot=True), but(device=...), b"{"):
        assert decode_one(payload)["device"] is None


@pytest.mark.parametrize("payload", KEPT)
def test_what_keeps_the_contract_is_let_through(payload: bytes) -> None:
    assert decode_one(payload)["reason"] is None
    assert breach(payload) is None


@pytest.mark.parametrize(("payload", "reason", "field"), MENDED)
def test_a_bad_optional_member_becomes_null_and_the_reading_stays(payload: bytes, reason: str, field: str) -> None:
    row = decode_one(payload)
    assert (row["reason"], row["notes"], row[field]) == (None, f"{field} {reason}", None)
    assert (row["device"], row["serial"], row["snr_db"]) == ("d1", 7, 3.0)
    assert (row["lat"] is None) == (row["lon"] is None)
    assert breach(payload) is not None


def test_several_bad_members_are_all_named_and_a_bad_required_one_counts() -> None:
    row = decode_one(but(snr_db=2**31 - 1, speed_kmh="fast", lat=91, rsrp_dbm=-10.0))
    told = ["lat out_of_range", "rsrp_dbm out_of_range", "snr_db out_of_range", "speed_kmh wrong_type"]
    assert sorted(row["notes"].split(", ")) == told
    assert (row["lon"], row["operator"]) == (None, "A")
    row = decode_one(literal({"lat": "1e400", "snr_db": "NaN", "operator": '"\\ud800"', "cell": '"\\udc00"'}))
    told = ["cell not_text", "lat out_of_range", "operator not_text", "snr_db out_of_range"]
    assert (row["serial"], sorted(row["notes"].split(", "))) == (7, told)
    assert decode_one(but(snr_db=2**31 - 1, sent_at="yesterday"))["reason"] == "not_a_time"
    assert decode_one(but(snr_db=2**31 - 1).replace(b'"A"', b'"\xe9"'))["reason"] == "not_utf8"


@pytest.mark.parametrize(
    "member",
    ['"note": "\\ud800"', '"note": [{"a": "\\udfff"}]', '"\\ud800": 1', f'"note": {deep(3000)}'],
    ids=["half a pair", "half a pair deeper", "half a pair as a name", "deep"],
)
def test_what_cannot_be_read_in_a_member_that_nobody_knows_costs_nothing(member: str) -> None:
    """The decoder refuses it there, too."""
    payload = b"{" + member.encode() + b", " + but()[1:]
    assert decode_one(payload) == decode_one(but())
    assert decode_one(payload.replace(b'"serial": 7', b'"serial": -7'))["reason"] == "out_of_range"


@pytest.mark.parametrize(
    ("network", "low", "high"),
    [
        ("LTE", -140, -44),
        ("5G", -156, -31),
        ("HSPA+", -120, -24),
        ("edge", -113, -47),
        (" NR_NSA ", -156, -31),
        ("Lte-CA", -140, -44),
        ("6G", -199, 100),
        (None, -199, 100),
    ],
)
def test_rsrp_is_judged_by_its_technology(network: str, low: float, high: float) -> None:
    for value in (low, high):
        assert decode_one(but(network=network, rsrp_dbm=value))["rsrp_dbm"] == value
    for value in (low - 1, low - 0.4, high + 0.4, high + 1):
        row = decode_one(but(network=network, rsrp_dbm=value))
        assert row["rsrp_dbm"] is None
        assert row["notes"] == (None if value == -200 else "rsrp_dbm out_of_range")


def test_rsrp_may_be_a_fraction() -> None:
    told = [decode_one(but(rsrp_dbm=value))["rsrp_dbm"] for value in (-97.5, -97.4, -97.0, -98.5)]
    assert told == [-98, -97, -97, -99]


def test_every_reason_is_tried() -> None:
    assert {reason for _, reason, _ in BROKEN + MENDED} == {rule.reason for rule in RULES}
    assert set(REASONS) == {rule.reason for rule in RULES} | {"refused", *OF_SERIALS}


def test_values_arrive_as_they_were_sent() -> None:
    row = decode_one(but())
    at = datetime(2019, 12, 1, 13, 5, tzinfo=UTC)
    assert {k: v for k, v in row.items() if k in WHOLE} == {k: v for k, v in WHOLE.items() if k != "v"} | {
        "sent_at": at,
        "measured_at": at,
    }


def test_unknown_rsrp_becomes_null_and_the_reading_stays() -> None:
    row = decode_one(but(rsrp_dbm=-200))
    assert row["rsrp_dbm"] is None
    assert row["device"] == "d1"


def test_broken_rows_disturb_no_others() -> None:
    payloads = [p for p, _, _ in BROKEN for p in (but(), p)]
    rows = decode_readings(pa.array(payloads, pa.binary())).to_pylist()
    assert [row["reason"] for row in rows[::2]] == [None] * len(BROKEN)
    assert [row["reason"] for row in rows[1::2]] == [reason for _, reason, _ in BROKEN]


def test_no_payloads_give_no_rows() -> None:
    assert decode_readings(pa.array([], pa.binary())).num_rows == 0


def test_the_zone_is_taken_into_account() -> None:
    assert time_us("1970-01-01T01:00:00.5+01:00") == 500_000
    assert time_us("2019-12-01T13:05:00") is None


MEMBER = st.sampled_from(list(WHOLE))
VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([10**400, -(10**400)]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=140),
    st.sampled_from(["2019-12-01T13:05:00Z", "2019-12-01", "2300-01-01T00:00:00Z", "1969-01-01T00:00:00Z"]),
    st.lists(st.integers(), max_size=2),
)


@given(st.dictionaries(MEMBER, VALUE, max_size=3))
def test_decoder_and_rules_agree_on_values(changes: dict[str, Any]) -> None:
    payload = json.dumps(WHOLE | changes).encode()
    found = None if mended(payload) else breach(payload)
    assert decode_one(payload)["reason"] == (found.reason if found else None)


@given(st.data())
def test_decoder_and_rules_agree_on_damaged_bytes(data: st.DataObject) -> None:
    payload = bytearray(but())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(payload) - 1))
        payload[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    found = None if mended(bytes(payload)) else breach(bytes(payload))
    said = decode_one(bytes(payload))["reason"]
    assert said == (found.reason if found else None)
