"""Rows of traces: what they become, and that none disappears in silence."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapwing.contracts.decode import decode_readings
from lapwing.lab.malformed_rows import Malformed
from lapwing.lab.payload import Value, encode
from lapwing.lab.trace_lines import RECORD_LINES_MAX
from lapwing.lab.trace_repairs import REPAIRS
from lapwing.lab.trace_row import MalformedRowError, RowReader, TraceRow
from lapwing.lab.traces import DEVICE_BYTES_MAX, DEVICE_CHARS_MAX, find

HEAD = "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,RSSI,DL_bitrate,UL_bitrate"
SOUND = "2019.07.01_12.00.00,-8.5,51.9,3,B,7,LTE,-200,-12,10.5,-,1,2"
IRELAND = ZoneInfo("Europe/Dublin")


def rows_of(path: Path) -> list[TraceRow | Malformed]:
    return [row for trace in find(path) for row in trace.rows(IRELAND)]


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join((HEAD, *lines)) + "\n", encoding="utf-8")
    return path


def one(path: Path, line: str) -> TraceRow:
    (row,) = rows_of(write(path, line))
    assert isinstance(row, TraceRow), row
    return row


def rules(row: TraceRow) -> list[str]:
    return [repair.rule for repair in row.repairs]


def test_a_row_in_local_summer_time_becomes_utc(tmp_path: Path) -> None:
    row = one(tmp_path / "a.csv", SOUND)
    assert (row.line, row.measured_at_us, row.repairs) == (2, 1_561_978_800_000_000, ())
    assert row.values["rsrp_dbm"] == -200
    assert row.values["rssi_dbm"] is None
    assert row.values["snr_db"] == 10.5


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (SOUND.replace("-8.5", "-"), "Longitude '-' is not within"),
        (SOUND.replace("51.9", "97"), "Latitude '97' is not within"),
        (SOUND.replace("51.9", "NaN"), "Latitude 'NaN' is not within"),
        (SOUND.replace("51.9", "1e999"), "Latitude '1e999' is not a finite number"),
        (SOUND.replace("2019.07.01_", "2019.02.30_"), "Timestamp '2019.02.30_12.00.00' is not"),
        (SOUND.replace("2019", "x019"), "Timestamp"),
        (SOUND.replace("2019", "0019"), "is not of the years"),
        (SOUND.replace("2019.07.01_12", "2019.03.31_01"), "an hour that Europe/Dublin leaves out"),
        (SOUND.replace("-200", "loud"), "RSRP 'loud' is not a number"),
        (SOUND.replace("-200", "1_0"), "RSRP '1_0' is not a number"),
        (SOUND.replace("-200", "٩"), "is not a number"),
        (SOUND.replace("-200", "0x10"), "is not a number"),
        (SOUND.replace("-200", "-97 dBm"), "is not a number"),
        (SOUND.replace("-200", '"1,23,456"'), "is not a number"),
        (SOUND.replace("-200", "inf"), "RSRP 'inf' is not a number"),
        (SOUND.replace("-200", "1e999"), "RSRP '1e999' is not a finite number"),
        (SOUND + ",1", "number of fields differs from the header's: 14, not 13"),
        (SOUND.removesuffix(",2"), "number of fields"),
        (SOUND.replace(",B,", ',"B"x,'), "expected after"),
        (HEAD, "the header again"),
        ("x" * 200_000, "a line of more than"),
    ],
)
def test_a_malformed_row_is_named_and_the_next_one_read(tmp_path: Path, line: str, problem: str) -> None:
    bad, good = rows_of(write(tmp_path / "a.csv", line, SOUND))
    assert isinstance(bad, Malformed)
    assert str(bad).startswith("a.csv:2: ")
    assert problem in bad.problem
    assert isinstance(good, TraceRow)
    assert good.line == 3


@pytest.mark.parametrize(
    ("old", "new", "field", "value", "rule"),
    [
        ("-200", "-97.5", "rsrp_dbm", -98, "rounded"),
        ("-200", "-97.0", "rsrp_dbm", -97, None),
        ("-200", " -97 ", "rsrp_dbm", -97, "spaces"),
        ("-200", "\u221297", "rsrp_dbm", -97, "minus_sign"),
        ("-200", "NaN", "rsrp_dbm", None, "no_value"),
        ("-200", "N/A", "rsrp_dbm", None, "no_value"),
        ("-200", "2147483647", "rsrp_dbm", None, "no_value"),
        ("-200", "-300", "rsrp_dbm", None, "out_of_range"),
        ("10.5", "1e1", "snr_db", 10, None),
        (",1,2", ',"1,234,567.5",2', "dl_kbps", 1_234_567.5, "thousands_separator"),
        (",1,2", ",1 234,2", "dl_kbps", 1234, "thousands_separator"),
        (",1,2", ",1\u202f234,2", "dl_kbps", 1234, "thousands_separator"),
        (",1,2", ",1'234,2", "dl_kbps", 1234, "thousands_separator"),
        ("51.9", '"51,9"', "lat", 51.9, "decimal_comma"),
        (",3,B", ",-1,B", "speed_kmh", None, "out_of_range"),
        (",B,", ", B ,", "operator", "B", "spaces"),
        (",B,", ',"B, or ""C""",', "operator", 'B, or "C"', None),
        (",B,", ',5" B,', "operator", '5" B', None),
        (",B,", f",{'B' * 129},", "operator", None, "out_of_range"),
    ],
)
def test_a_value_is_read_or_mended_by_a_named_rule(
    tmp_path: Path, old: str, new: str, field: str, value: object, rule: str | None
) -> None:
    row = one(tmp_path / "a.csv", SOUND.replace(old, new))
    assert row.values[field] == value
    assert rules(row) == ([rule] if rule else [])


def test_every_rule_has_a_meaning() -> None:
    assert all(REPAIRS.values())


@pytest.mark.parametrize(
    ("text", "rules_applied"),
    [
        ("2019-07-01T11:00:00Z", []),
        ("2019-07-01t11:00:00z", []),
        ("2019-07-01 13:00:00+02:00", []),
        ("2019-07-01T13:00:00+02", []),
        ("2019-07-01T11:00Z", []),
        ("2019-07-01 11:00:00 UTC", []),
        ("2019-07-01 12:00:00", []),
        ("2019-07-01T11:00:00.000 Z", []),
        ("01.07.2019 12:00:00", ["day_first"]),
        ("1561978800", ["epoch"]),
        ("1561978800000", ["epoch"]),
        ("1561978800000000", ["epoch"]),
        ("1561978800000000000", ["epoch"]),
    ],
)
def test_a_time_is_read_or_mended_by_a_named_rule(tmp_path: Path, text: str, rules_applied: list[str]) -> None:
    row = one(tmp_path / "a.csv", SOUND.replace("2019.07.01_12.00.00", text))
    assert (row.measured_at_us, rules(row)) == (1_561_978_800_000_000, rules_applied)


@pytest.mark.parametrize("text", ["2017.01.01_00.59.60", "2017-01-01 00:59:60 +01:00", "31.12.2016 23:59:60"])
def test_a_leap_second_is_the_one_after_it(tmp_path: Path, text: str) -> None:
    zone = IRELAND if text.startswith("3") else ZoneInfo("Europe/Paris")
    row = RowReader(HEAD.split(","), zone).read(2, SOUND.replace("2019.07.01_12.00.00", text).split(","))
    assert (row.measured_at_us, rules(row)[-1]) == (1_483_228_800_000_000, "leap_second")


@pytest.mark.parametrize(
    "text",
    [
        "2019.07.01_12.00.60", "2019-07-01T24:00:00Z", "07/01/2019 12:00:00", "2019-07-01", "1561978800.5", "31535999",
        "9183110400", "2019-07-01T12:00:00-25:00", "2019-07-01T12:00.5Z", "1" * 100_000,
        "9999.12.31_23.59.60", "9999-12-31 23:59:60-01:00", "0001-01-01T00:00:60+23:59",
    ],
)  # fmt: skip
def test_what_may_mean_two_times_or_none_is_refused_in_few_words(tmp_path: Path, text: str) -> None:
    (bad,) = rows_of(write(tmp_path / "a.csv", SOUND.replace("2019.07.01_12.00.00", text)))
    assert isinstance(bad, Malformed)
    assert bad.problem.startswith("Timestamp ")
    assert len(bad.problem) < 250


def test_what_a_german_excel_writes(tmp_path: Path) -> None:
    """A word for the delimiter, UTF-16, a decimal comma before three digits."""
    rows = SOUND.replace(",", ";").replace("51.9", "51,901")
    (tmp_path / "a.csv").write_bytes("\r\n".join(("sep=;", HEAD.replace(",", "; "), rows, "")).encode("utf-16"))
    (row,) = rows_of(tmp_path / "a.csv")
    assert isinstance(row, TraceRow)
    assert (row.values["lat"], rules(row), row.line) == (51.901, ["decimal_comma"], 3)


@pytest.mark.parametrize(
    ("lat", "rate", "snr", "value"),
    [
        ("51,9", "1.234", "10,5", 1234),
        ("51,901", "1.234.567", "10", 1_234_567),
        ("51,901", "1.234,5", "10", 1234.5),
        ("51,9", "-", "1.234", None),
        ("51.901", "1.234", "10.5", 1.234),
        ("51.901", "1.234", "10", 1.234),
    ],
)
def test_beside_decimal_commas_a_point_separates_thousands(
    tmp_path: Path, lat: str, rate: str, snr: str, value: float | None
) -> None:
    """And in a file with semicolons and decimal points it is one."""
    row = SOUND.replace(",", ";").replace("51.9", lat).replace(";1;2", f";{rate};2").replace("10.5", snr)
    lon = row.split(";")[HEAD.split(",").index("Longitude")]
    row = row.replace(lon, lon.replace(".", ",")) if "," in lat else row
    (tmp_path / "a.csv").write_text(f"{HEAD.replace(',', ';')}\n{row}\n")
    (found,) = rows_of(tmp_path / "a.csv")
    assert isinstance(found, TraceRow), found
    assert found.values["dl_kbps"] == value
    assert ("thousands_separator" in rules(found)) == ("," in lat)


def test_a_row_with_decimal_commas_and_points_is_refused_where_either_may_be_meant(tmp_path: Path) -> None:
    row = SOUND.replace(",", ";").replace("51.9", "51,9").replace(";1;2", ";1.234;2")
    (tmp_path / "a.csv").write_text(f"{HEAD.replace(',', ';')}\n{row}\n")
    (bad,) = rows_of(tmp_path / "a.csv")
    assert isinstance(bad, Malformed)
    assert "DL_bitrate '1.234' may be thousands" in bad.problem


def test_a_quoted_line_end_is_part_of_its_field(tmp_path: Path) -> None:
    first, second = rows_of(write(tmp_path / "a.csv", SOUND.replace(",B,", ',"B\nC",'), SOUND))
    assert isinstance(first, TraceRow)
    assert isinstance(second, TraceRow)
    assert (first.values["operator"], first.line, second.line) == ("B\nC", 2, 4)


@pytest.mark.parametrize("below", [2, RECORD_LINES_MAX * 3])
def test_a_quote_that_nobody_closes_costs_its_row_only(tmp_path: Path, below: int) -> None:
    bad, *good = rows_of(write(tmp_path / "a.csv", SOUND.replace(",B,", ',"B,'), *[SOUND] * below))
    assert isinstance(bad, Malformed)
    assert str(bad) == "a.csv:2: a quote is opened and not closed"
    assert [row.line for row in good if isinstance(row, TraceRow)] == list(range(3, below + 3))


def test_bytes_that_are_no_text_cost_their_row_only(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(f"{HEAD}\n{SOUND}\n".encode() + SOUND.encode().replace(b",B,", b",\xe9,"))
    good, bad = rows_of(tmp_path / "a.csv")
    assert isinstance(good, TraceRow)
    assert isinstance(bad, Malformed)
    assert "Operatorname" in bad.problem
    assert "not UTF-8" in bad.problem


def test_an_hour_that_occurs_twice_goes_on_from_the_row_before(tmp_path: Path) -> None:
    clock = ("00.59.59", "01.30.00", "01.59.59", "01.00.00", "01.10.00", "02.00.00")
    rows = rows_of(write(tmp_path / "a.csv", *(SOUND.replace("07.01_12.00.00", f"10.27_{at}") for at in clock)))
    sound = [row for row in rows if isinstance(row, TraceRow)]
    told = [datetime.fromtimestamp(row.measured_at_us / 1e6, UTC).strftime("%H:%M:%S") for row in sound]
    assert told == ["23:59:59", "00:30:00", "00:59:59", "01:00:00", "01:10:00", "02:00:00"]
    assert [rules(row) for row in sound] == [[], *[["hour_twice"]] * 4, []]


def test_zeros_mean_unknown_for_operator_cell_and_rsrq(tmp_path: Path) -> None:
    row = one(tmp_path / "a.csv", SOUND.replace("B,7", "0,0").replace("-12", "0"))
    assert row.values["operator"] is row.values["cell"] is row.values["rsrq_db"] is None


def test_columns_that_are_not_needed_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "RSRP,Latitude,Longitude,NetworkMode,Timestamp,Note\n-90,51.9,-8.5,LTE,2019.07.01_12.00.00,x\n"
    )
    (row,) = rows_of(tmp_path / "a.csv")
    assert isinstance(row, TraceRow)
    assert (row.values["rsrp_dbm"], row.values["speed_kmh"]) == (-90, None)


CELL = st.text(max_size=8) | st.from_regex(r"[-+ ]?[0-9]{1,4}([.,_ ][0-9]{1,3}){0,2}", fullmatch=True)


@given(st.dictionaries(st.sampled_from(HEAD.split(",")), CELL, max_size=4))
def test_what_is_sent_keeps_the_contract(changes: dict[str, str]) -> None:
    """Whatever stands in a cell: the row is refused here, or nothing of it ends in quarantine."""
    columns = HEAD.split(",")
    cells = dict(zip(columns, SOUND.split(","), strict=True)) | changes
    try:
        row = RowReader(columns, IRELAND).read(2, list(cells.values()))
    except MalformedRowError:
        return
    times: dict[str, Value] = {"sent_at": "2020-01-01T00:00:00Z", "measured_at": "2020-01-01T00:00:00Z"}
    payload = encode({"device": "d", "boot": 0, "serial": 0, **times, **row.values})
    assert decode_readings(pa.array([payload], pa.binary())).to_pylist()[0]["reason"] is None


def test_one_file_is_one_device_also_where_names_repeat(tmp_path: Path) -> None:
    names = ("x/day.csv", "y/day.csv", "solo one.CSV", "readme.txt", "__MACOSX/._day.csv", "ü.csv", "#.csv", "%.csv")
    for name in names:
        write(tmp_path / name, SOUND)
    assert [trace.device for trace in find(tmp_path)] == ["-", "--2", "solo-one", "x-day", "y-day", "ü"]


def test_a_device_has_a_name_that_a_broker_takes(tmp_path: Path) -> None:
    """Whatever a file is called: one level of a topic, a client id of 256 bytes, and no two of them the same."""
    for folder in ("数" * 60 + "/" + "据" * 60, "字" * 60 + "/" + "据" * 60, "", "x"):
        write(tmp_path / folder / f"{'同' * 70}.csv", SOUND)
        write(tmp_path / folder / ".csv", SOUND)
    devices = [trace.device for trace in find(tmp_path)]
    assert len(devices) == len(set(devices)) == 8
    for device in devices:
        assert 1 <= len(device) <= DEVICE_CHARS_MAX
        assert len(device.encode()) <= DEVICE_BYTES_MAX


def test_a_file_s_name_forges_no_line(tmp_path: Path) -> None:
    (bad,) = rows_of(write(tmp_path / "a\nsent: 7.csv", SOUND + ",1"))
    assert str(bad).startswith("a\\nsent: 7.csv:2: ")
