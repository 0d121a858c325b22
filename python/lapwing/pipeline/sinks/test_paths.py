"""Which paths can hold tables, and what the files of a table are called."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lapwing.errors import ConfigError
from lapwing.pipeline.sinks.paths import check_folder, table_files


@pytest.mark.parametrize("name", ["a\nb", "\x1b[31m", "a\\b", "[x]", "a%20b"])
def test_on_a_cluster_a_path_that_delta_rs_cannot_open_is_refused_in_one_line(name: str) -> None:
    """Also where it stands further up, and is not there yet. On one machine there is a door: see `test_doors`."""
    folder = Path("/tmp") / name / "out"
    check_folder("--out", folder)
    with pytest.raises(ConfigError, match="--out has a path that delta-rs cannot open") as caught:
        check_folder("--out", folder, on_cluster=True)
    assert str(caught.value).isprintable()


def test_a_path_that_is_no_utf_8_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigError, match="--out has a byte 0xe9 in its path, which is no UTF-8") as caught:
        check_folder("--out", Path("/tmp/caf\udce9"))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["x" * 256, "ü" * 128, "y/" * 1900 + "z"])
def test_a_path_that_the_system_cannot_have_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(ConfigError, match=r"--out has \d+ bytes in") as caught:
        check_folder("--out", Path(name))
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "name", ["my out", "ü", "#1", "100%", "%zz", "a:b", "a?b", "'`\"", "{*}", "a=b&c", "...", " -x ", "x" * 255]
)
def test_every_other_path_is_a_path(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "things"
    check_folder("--out", folder, on_cluster=True)
    folder.mkdir(parents=True)
    # Partitions have names of their own, which delta-rs encodes on disk as well.
    write_deltalake(folder, pa.table({"n": [1, 2], "day": ["a b", "ü%20"]}), partition_by=["day"])
    files = table_files(DeltaTable(folder), folder)
    assert len(files) == 2
    assert all(file.is_file() for file in files)
