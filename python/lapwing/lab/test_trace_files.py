"""Files of traces: in any encoding, packed or not, and each that cannot be read refused by its name."""

from __future__ import annotations

import gzip
import os
import warnings
import zipfile
from pathlib import Path

import pytest

from lapwing.lab.test_traces import HEAD, IRELAND, SOUND, rows_of, write
from lapwing.lab.trace_row import TraceRow
from lapwing.lab.traces import TraceError, find


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_files_in_any_unicode_compressed_or_not_with_a_quoted_header(tmp_path: Path, encoding: str, name: str) -> None:
    quoted = ",".join(f'"{column}"' for column in HEAD.split(","))
    data = f"{quoted}\r\n{SOUND.replace('B', 'Bü')}\r\n".encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (trace,) = find(tmp_path / name)
    (row,) = trace.rows(IRELAND)
    assert isinstance(row, TraceRow)
    assert (row.values["operator"], trace.device) == ("Bü", "a")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_delimiters_line_ends_and_byte_order_marks(tmp_path: Path, delimiter: str, end: str, start: bytes) -> None:
    text = end.join(line.replace(",", delimiter) for line in ("", HEAD, "", SOUND))
    (tmp_path / "a.csv").write_bytes(start + text.encode())
    (row,) = rows_of(tmp_path / "a.csv")
    assert isinstance(row, TraceRow)
    assert (row.line, row.values["lat"], row.values["operator"], row.repairs) == (4, 51.9, "B", ())


def test_a_zip_and_a_folder_give_the_same(tmp_path: Path) -> None:
    source = write(tmp_path / "folder" / "sub" / "a.csv", SOUND, SOUND)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(source, "sub/a.csv")
    assert rows_of(tmp_path / "a.zip") == rows_of(tmp_path / "folder")


def test_what_is_no_trace_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    (tmp_path / "nothing.csv").touch()
    (tmp_path / "twice.csv").write_text(f"{HEAD},RSRP\n{SOUND},1\n")
    (tmp_path / "other.csv").write_text(f"{HEAD},RSSI\n{SOUND},1\n")
    (tmp_path / "endless.csv").write_text("x" * 1_000_000)
    (tmp_path / "a.txt").write_text(f"{HEAD}\n{SOUND}\n")
    os.mkfifo(tmp_path / "pipe.csv")
    for name, problem in (
        ("none", "no such"),
        ("x" * 300, "too long"),
        ("empty", r"no \.csv"),
        ("b.csv", "Timestamp"),
        ("nothing.csv", "no header"),
        ("endless.csv", "no header"),
        ("twice.csv", "RSRP is there twice"),
        ("other.csv", "RSSI is there twice"),
        ("a.txt", "neither a ZIP nor a"),
        ("pipe.csv", "neither a file nor a folder"),
    ):
        with pytest.raises(TraceError, match=problem):
            rows_of(tmp_path / name)


def test_what_is_damaged_is_refused_by_name(tmp_path: Path) -> None:
    rows = "\n".join([HEAD, *[SOUND] * 2000])
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder.csv")
        archive.writestr("a.csv", rows)
    archived, compressed = (tmp_path / "a.zip").read_bytes(), gzip.compress(rows.encode())
    begin = archived.index(b"a.csv") + 5
    (tmp_path / "broken.zip").write_bytes(archived[:begin] + b"\x55" * 60 + archived[begin + 60 :])
    (tmp_path / "central.zip").write_bytes(archived[:-70] + b"\x55" * 40 + archived[-30:])
    (tmp_path / "cut.csv.gz").write_bytes(compressed[:-20])
    (tmp_path / "wrong.csv.gz").write_bytes(compressed[:-6] + b"\0" * 6)
    assert len(rows_of(tmp_path / "a.zip")) == 2000
    for name in ("broken.zip", "central.zip", "cut.csv.gz", "wrong.csv.gz"):
        with pytest.raises(TraceError, match="cannot be read"):
            rows_of(tmp_path / name)


def test_an_archive_with_two_files_of_one_name_is_refused(tmp_path: Path) -> None:
    """Opened by its name, the first one was not there: its rows were gone without a word."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("a.csv", "a.csv", "notes.txt", "notes.txt"):
            archive.writestr(name, f"{HEAD}\n{SOUND}\n")
    with pytest.raises(TraceError, match=r"more than one of its files is called a\.csv"):
        find(tmp_path / "a.zip")
