"""Do the faults of the disk reach a program, by whatever name of libc it writes?

Peers of the fault matrix write through Erlang, Java, RocksDB or LevelDB, which take other names than the broker.
"""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from commands import clean_environment
from faulty_disk import FaultyDisk

PROGRAM = """
import ctypes, os, sys
libc, fault, path = ctypes.CDLL(None, use_errno=True), sys.argv[1], sys.argv[2].encode()
file = os.open(path, os.O_RDWR | os.O_CREAT)
libc.fdopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fdopen(file, b"r+"))
calls = {
    "write": lambda: libc.write(file, b"x", 1),
    "pwrite": lambda: libc.pwrite(file, b"x", 1, 0),
    "pwrite64": lambda: libc.pwrite64(file, b"x", 1, 0),
    "fwrite": lambda: libc.fwrite(b"x", 1, 1, stream) - 1,
    "fwrite_unlocked": lambda: libc.fwrite_unlocked(b"x", 1, 1, stream) - 1,
    "unlink": lambda: libc.unlink(path),
    "remove": lambda: libc.remove(path),
}
open(fault, "w").close()
result = calls[sys.argv[3]]()
print(ctypes.get_errno() if result == -1 else 0)
"""


def error_of(disk: FaultyDisk, tmp_path: Path, fault: str, call: str) -> int:
    """What a program is told that makes the call while the disk has the fault; 0: nothing."""
    (tmp_path / "data").mkdir()
    arguments = (str(disk.folder / fault), str(tmp_path / "data" / "file"), call)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=clean_environment(**disk.variables),
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


WRITES = ("write", "pwrite", "pwrite64", "fwrite", "fwrite_unlocked")


@pytest.mark.parametrize("call", WRITES)
def test_a_full_disk_takes_nothing(disk: FaultyDisk, tmp_path: Path, call: str) -> None:
    assert error_of(disk, tmp_path, "full", call) == errno.ENOSPC


@pytest.mark.parametrize("call", [*WRITES, "unlink", "remove"])
def test_a_read_only_disk_changes_nothing(disk: FaultyDisk, tmp_path: Path, call: str) -> None:
    assert error_of(disk, tmp_path, "read-only", call) == errno.EROFS
    assert (tmp_path / "data" / "file").read_bytes() == b""


def test_a_full_disk_lets_go_of_files(disk: FaultyDisk, tmp_path: Path) -> None:
    assert error_of(disk, tmp_path, "full", "remove") == 0
