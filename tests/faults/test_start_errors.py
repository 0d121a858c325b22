"""Does an error at start say once what to do, in its own terms?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lapwing import Broker
from lapwing.errors import DataFolderError, LapwingError

STREAMS = {"all": {"filter": "#", "partitions": 2}}


def refusal(kind: type[LapwingError], data: Path, partitions: int = 2) -> str:
    with pytest.raises(kind) as error, Broker(data=data, streams={"all": {"filter": "#", "partitions": partitions}}):
        pass
    return str(error.value)


def test_a_folder_in_use(tmp_path: Path) -> None:
    with Broker(data=tmp_path, streams=STREAMS):
        text = refusal(DataFolderError, tmp_path)
    assert text.endswith(": stop that broker, or name another folder")


def test_another_number_of_partitions(tmp_path: Path) -> None:
    with Broker(data=tmp_path, streams=STREAMS):
        pass
    text = refusal(LapwingError, tmp_path, partitions=3)
    assert text.endswith(f"or delete {tmp_path}/streams/all")


def test_a_damaged_file(tmp_path: Path) -> None:
    with Broker(data=tmp_path, streams=STREAMS):
        pass
    meta = tmp_path / "streams" / "all" / "meta"
    meta.write_bytes(b"\xff" + meta.read_bytes()[1:])
    text = refusal(DataFolderError, tmp_path)
    assert str(meta) in text
    assert text.endswith("delete the stream's folder (all its messages are given up)")
    assert "Check the data folder" not in text


def test_a_damaged_clock(tmp_path: Path) -> None:
    """Is one that cannot be read named, and not taken for a time; and is there one that can after it was removed?"""
    with Broker(data=tmp_path):
        pass
    clock = tmp_path / "clock"
    times = clock.read_text().split()[-2:]
    assert all(abs(int(at_ms) / 1000 - time.time()) < 60 for at_ms in times)
    clock.write_text("lapwing-clock 1 now now\n")
    with pytest.raises(LapwingError, match="clock") as error, Broker(data=tmp_path):
        pass
    assert "remove it" in str(error.value)
    clock.unlink()
    with Broker(data=tmp_path):
        pass
    assert clock.exists()
