"""Rows of traces: what they become, and that none disappears in silence."""

from __future__ import annotations

import zipfile
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from lapwing.lab.trace_row import TraceRow
from lapwing.lab.traces import Malformed, TraceError, find

HEAD = "Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,SNR,RSSI,DL_bitrate,UL_bitrate"
SOUND = "2019.07.01_12.00.00,-8.5,51.9,3,B,7,LTE,-200,-12,10.5,-,1,2"
IRELAND = ZoneInfo("Europe/Dublin")


def rows_of(path: Path) -> list[TraceRow | Malformed]:
    return [row for trace in find(path) for row in trace.rows(IRELAND)]


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join((HEAD, *lines)) + "\n")
    return path


def test_a_row_in_local_summer_time_becomes_utc(tmp_path: Path) -> None:
    (row,) = rows_of(write(tmp_path / "a.csv", SOUND))
    assert isinstance(row, TraceRow)
    assert row.measured_at_us == 1_561_978_800_000_000
    assert row.values["rsrp_dbm"] == -200
    assert row.values["rssi_dbm"] is None
    assert row.values["snr_db"] == 10.5


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (SOUND.replace("-8.5", "-"), "Longitude '-' is not within"),
        (SOUND.replace("51.9", "97"), "Latitude '97' is not within"),
        (SOUND.replace("2019.07.01_", "2019.02.30_"), "Timestamp '2019.02.30_12.00.00' is not"),
        (SOUND.replace("2019", "x019"), "Timestamp"),
        (SOUND.replace("-200", "loud"), "RSRP 'loud' is not a number"),
        (SOUND.replace("-200", "nan"), "RSRP 'nan' is not a finite number"),
        (SOUND + ",1", "number of fields"),
        (SOUND.removesuffix(",2"), "number of fields"),
        ("x" * 200_000, "field larger"),
    ],
)
def test_a_malformed_row_is_named_and_the_next_one_read(tmp_path: Path, line: str, problem: str) -> None:
    bad, good = rows_of(write(tmp_path / "a.csv", line, SOUND))
    assert isinstance(bad, Malformed)
    assert str(bad).startswith("a.csv:2: ")
    assert problem in bad.problem
    assert isinstance(good, TraceRow)


def test_zeros_mean_unknown_for_operator_cell_and_rsrq(tmp_path: Path) -> None:
    (row,) = rows_of(write(tmp_path / "a.csv", SOUND.replace("B,7", "0,0").replace("-12", "0")))
    assert isinstance(row, TraceRow)
    assert row.values["operator"] is row.values["cell"] is row.values["rsrq_db"] is None


def test_one_file_is_one_device_also_where_names_repeat(tmp_path: Path) -> None:
    for name in ("x/day.csv", "y/day.csv", "solo one.CSV", "readme.txt", "__MACOSX/._day.csv"):
        write(tmp_path / name, SOUND)
    assert [trace.device for trace in find(tmp_path)] == ["solo-one", "x-day", "y-day"]


def test_a_zip_and_a_folder_give_the_same(tmp_path: Path) -> None:
    source = write(tmp_path / "folder" / "sub" / "a.csv", SOUND, SOUND)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(source, "sub/a.csv")
    assert rows_of(tmp_path / "a.zip") == rows_of(tmp_path / "folder")


def test_what_is_no_trace_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    (tmp_path / "bytes.csv").write_bytes(HEAD.encode() + b"\n\xff\xfe\n")
    for name, problem in (
        ("none", "no such"),
        ("empty", r"no \.csv"),
        ("b.csv", "Timestamp"),
        ("bytes.csv", "UTF-8"),
    ):
        with pytest.raises(TraceError, match=problem):
            rows_of(tmp_path / name)
