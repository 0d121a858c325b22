"""A disk whose faults are switched on and off."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from faulty_disk import FaultyDisk


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled faults; a C compiler is there, because Rust links with it."""
    library = tmp_path_factory.mktemp("faults") / "disk_faults.so"
    source = Path(__file__).parent / "disk_faults.c"
    flags = ("-shared", "-fPIC", "-O1", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra")
    subprocess.run(["cc", *flags, "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def disk(library: Path, tmp_path: Path) -> FaultyDisk:
    """The disk below `tmp_path / "data"`."""
    folder = tmp_path / "faults"
    folder.mkdir()
    return FaultyDisk(folder, library, tmp_path / "data")
