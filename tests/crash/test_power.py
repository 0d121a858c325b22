"""Is what was synced there after a power cut, and what was not gone, or there in part?"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from commands import clean_environment

from .power import MAGIC, RECORD, SECTOR_BYTES, PowerCut, compile_library

OLD, NEW = b"a" * SECTOR_BYTES, b"b" * SECTOR_BYTES
# Does what a store does, in every way of losing it, and is killed.
PROGRAM = f"""
import os, signal, sys
folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)

def sync_names():
    names = os.open(folder, os.O_RDONLY)
    os.fsync(names)
    os.close(names)

def make(name, contents, sync=True):
    file = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT)
    os.pwrite(file, contents, 0)
    if sync:
        os.fdatasync(file)
    return file

for name in ("whole", "half", "replaced", "removed", "cut"):
    make(name, {OLD!r} * 4)
grown = make("grown", b"")
sync_names()
half = os.open(os.path.join(folder, "half"), os.O_RDWR)
os.pwrite(half, {NEW!r} * 4, {SECTOR_BYTES})
make("draft", {NEW!r})
os.rename(os.path.join(folder, "draft"), os.path.join(folder, "replaced"))
os.unlink(os.path.join(folder, "removed"))
make("unnamed", {NEW!r})
os.ftruncate(os.open(os.path.join(folder, "cut"), os.O_RDWR), {SECTOR_BYTES})
os.write(grown, {NEW!r})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_library(tmp_path_factory.mktemp("library"))


def machine(library: Path, folder: Path, program: str = PROGRAM) -> PowerCut:
    """After the program, before the cut."""
    power = PowerCut(library, folder / "power", folder / "data")
    variables = clean_environment(**power.prepare())
    # It needs nothing that is installed, and starts in half the time without.
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program, str(power.data)], env=variables, check=False)
    assert done.returncode == -9
    return power


def chance_of_everything(wanted: bool) -> list[int]:
    """Seeds for which a cut loses everything that was not synced, or some of it."""
    return [seed for seed in range(60) if (Random(seed).random() < 0.4) == wanted]


def test_nothing_is_lost_while_the_system_stays_up(library: Path, tmp_path: Path) -> None:
    power = machine(library, tmp_path)
    found = {file.name: file.read_bytes() for file in power.data.iterdir()}
    assert found == {
        "whole": OLD * 4,
        "half": OLD + NEW * 4,
        "replaced": NEW,
        "unnamed": NEW,
        "cut": OLD,
        "grown": NEW,
    }


def test_what_was_not_synced_is_gone(library: Path, tmp_path: Path) -> None:
    power = machine(library, tmp_path)
    power.cut(Random(chance_of_everything(True)[0]))
    found = {file.name: file.read_bytes() for file in power.data.iterdir()}
    whole = OLD * 4
    assert found == {"whole": whole, "half": whole, "replaced": whole, "removed": whole, "cut": whole, "grown": b""}
    assert power.lost_changes > 0


def test_any_part_of_it_may_be_there(library: Path, tmp_path: Path) -> None:
    seen = set()
    for number, seed in enumerate(chance_of_everything(False)[:12]):
        folder = tmp_path / str(number)
        folder.mkdir()
        power = machine(library, folder)
        power.cut(Random(seed))
        found = {file.name: file.read_bytes() for file in power.data.iterdir()}
        assert found["whole"] == OLD * 4
        assert found["half"][:SECTOR_BYTES] == OLD
        for at in range(0, len(found["half"]), SECTOR_BYTES):
            assert found["half"][at : at + SECTOR_BYTES] in (OLD, NEW, bytes(SECTOR_BYTES))
        assert found["replaced"] in (OLD * 4, NEW)
        # Names reach the disk in their order: who is gone, or new, has those before with it.
        if "unnamed" in found:
            assert "removed" not in found
        if "removed" not in found:
            assert found["replaced"] == NEW
        seen.add((found["half"], found["replaced"], "removed" in found, "unnamed" in found, found["cut"]))
    assert len(seen) > 4, "chance leaves the same each time"


def test_where_the_system_writes_by_itself_a_file_that_was_synced_has_its_name(library: Path, tmp_path: Path) -> None:
    """As on ext4, where the sync of a new file takes its entry with it: `unnamed` was synced, its folder was not."""
    for written_back_s, names in ((None, set()), (3_600.0, {"unnamed", "draft"})):
        folder = tmp_path / str(written_back_s)
        folder.mkdir()
        strict = machine(library, folder)
        power = PowerCut(library, folder / "power", strict.data, written_back_s=written_back_s)
        power.cut(Random(chance_of_everything(True)[0]))
        assert {file.name for file in power.data.iterdir()} & {"unnamed", "draft"} == names
        assert (power.data / "replaced").read_bytes() == OLD * 4, "a rename is not of the file"


ROOM = """
import ctypes, os, signal, sys
os.makedirs(sys.argv[1])
file = os.open(os.path.join(sys.argv[1], "log"), os.O_RDWR | os.O_CREAT)
os.write(file, b"short")
assert ctypes.CDLL(None).fallocate(file, 1, ctypes.c_long(0), ctypes.c_long(4096)) == 0
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_room_behind_the_end_of_a_file_is_no_change_of_its_length(library: Path, tmp_path: Path) -> None:
    """FALLOC_FL_KEEP_SIZE, as RocksDB asks for it: no cut may leave a file that is longer than what was written."""
    for seed in chance_of_everything(False)[:8]:
        folder = tmp_path / str(seed)
        folder.mkdir()
        power = machine(library, folder, ROOM)
        power.cut(Random(seed))
        log = power.data / "log"
        assert not log.exists() or log.read_bytes() in (b"", b"short")


def test_a_change_of_names_that_was_written_down_and_not_made_is_not_taken_back(library: Path, tmp_path: Path) -> None:
    """The kill came in between: what is there stays as it is."""
    power = machine(library, tmp_path)
    file = os.open(power.data / "whole", os.O_RDONLY)
    inode = os.fstat(file).st_ino
    os.close(file)
    names = {file.name for file in power.data.iterdir()}
    with (tmp_path / "power" / "changes").open("ab") as journal:
        for kind, rest in ((5, ("whole", "elsewhere")), (5, ("half", "whole")), (6, ("whole",))):
            paths = "\0".join(str(power.data / name) for name in rest).encode()
            number = 4_711 + kind if kind == 6 else 0
            own = inode + 1 if rest[0] == "half" else inode
            journal.write(RECORD.pack(MAGIC, kind, own, number, 0, 0, time.monotonic_ns(), len(paths), 0) + paths)
    os.link(power.data / "whole", tmp_path / "power" / "removed-4717")
    power.cut(Random(chance_of_everything(True)[0]))
    assert (power.data / "whole").read_bytes() == OLD * 4
    assert {file.name for file in power.data.iterdir()} == (names | {"removed"}) - {"unnamed"}
