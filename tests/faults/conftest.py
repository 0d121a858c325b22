"""A disk whose faults are switched on and off, and a wall clock that is set."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from faulty_disk import FaultyDisk
from wall_clock import WallClock


def compiled(name: str, folder: Path) -> Path:
    """A library of C beside this file; a compiler is there, because Rust links with it."""
    library = folder / f"{name}.so"
    source = Path(__file__).parent / f"{name}.c"
    flags = ("-shared", "-fPIC", "-O1", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra")
    subprocess.run(["cc", *flags, "-o", library, source, "-ldl"], check=True)
    return library


# Raw clients of the broker's own tests.
sys.path.insert(0, str(Path(__file__).parent.parent / "broker"))


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled faults."""
    return compiled("disk_faults", tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="session")
def clock_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled clock."""
    return compiled("wall_clock", tmp_path_factory.mktemp("clock"))


@pytest.fixture
def disk(library: Path, tmp_path: Path) -> FaultyDisk:
    """The disk below `tmp_path / "data"`."""
    folder = tmp_path / "faults"
    folder.mkdir()
    return FaultyDisk(folder, library, tmp_path / "data")


@pytest.fixture
def wall(clock_library: Path, tmp_path: Path) -> WallClock:
    """The wall clock of brokers that are started with it; true until it is set."""
    return WallClock(tmp_path / "fast", clock_library)
