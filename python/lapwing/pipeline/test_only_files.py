"""Is what Spark, delta-rs or a job would wait for found before anything is opened?"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from lapwing.pipeline.errors import FolderError
from lapwing.pipeline.jobs.folder import JobFolder
from lapwing.pipeline.only_files import check_only_files

PLACES = [
    "spark.log",
    ".lapwing-job",
    "tables/.versions.json",
    "tables/quarantine/_delta_log/00000000000000000000.json",
    "tables/quarantine/ingress_day=2026-01-01/part-1.zstd.parquet",
    "checkpoint/offsets/7",
    "checkpoint/metadata",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_pipe_in_the_place_of_a_file_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / place)
    with pytest.raises(FolderError, match=f"a pipe lies where a file belongs.*{place}"):
        JobFolder.held(tmp_path, tmp_path / "checkpoint")


@pytest.mark.parametrize("place", [place for place in PLACES if not place.startswith("checkpoint")])
def test_who_only_maintains_tables_is_not_kept_waiting_either(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / place)
    with pytest.raises(FolderError, match=f"a pipe lies where a file belongs.*{place}"):
        JobFolder.tried(tmp_path, "maintenance")


def test_every_kind_is_named_and_links_are_followed(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "zero").symlink_to("/dev/zero")
    with pytest.raises(FolderError, match=r"^a device lies where a file belongs \(.*zero"):
        check_only_files(tmp_path)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tables / "s"))
    with pytest.raises(FolderError, match=r"a socket lies where a file belongs \(and 1 more such\)"):
        check_only_files(tmp_path)


def test_files_folders_and_links_are_let_through(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "file").touch()
    (tmp_path / "tables" / "link").symlink_to("file")
    (tmp_path / "tables" / "nowhere").symlink_to("none")
    check_only_files(tmp_path, tmp_path / "none")
    check_only_files(tmp_path / "none")
