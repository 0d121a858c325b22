"""`lapwing store backup` that is ended before it is done: what is left of it, and does the next one go?"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import LAPWING, call, clean_environment

from lapwing import Broker

PATIENCE_S = 30


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with Broker(data=tmp_path / "data", streams={"all": {"filter": "#"}}):
        pass
    return tmp_path / "data"


@contextmanager
def full_pipe() -> Iterator[tuple[int, int]]:
    """A pipe that takes nothing more: who writes waits."""
    read, write = os.pipe()
    flags = fcntl.fcntl(write, fcntl.F_GETFL)
    fcntl.fcntl(write, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(write, bytes(1 << 16))
    except BlockingIOError:
        fcntl.fcntl(write, fcntl.F_SETFL, flags)
    try:
        yield read, write
    finally:
        os.close(read)


def ended(data: Path, target: Path, number: signal.Signals) -> int:
    """Ends a backup by a signal while it waits for whoever reads what it tells; returns its exit code."""
    with full_pipe() as (read, write):
        command = [*LAPWING, "store", "backup", str(data), str(target), "--json"]
        backup = subprocess.Popen(command, stdout=write, env=clean_environment(), cwd=target.parent)
        os.close(write)
        deadline = time.monotonic() + PATIENCE_S
        while not any(target.with_name("copy.partial").rglob("clock")):
            assert backup.poll() is None
            assert time.monotonic() < deadline, "it does not begin to copy"
            time.sleep(0.01)
        backup.send_signal(number)
        while os.read(read, 1 << 16):
            pass
        return backup.wait(PATIENCE_S)


def test_a_sigterm_leaves_nothing(data: Path, tmp_path: Path) -> None:
    """Is a backup that a service manager ends (cron, `docker stop`) gone as by Ctrl-C?"""
    assert ended(data, tmp_path / "copy", signal.SIGTERM) == 130
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_a_kill_leaves_is_not_in_the_way(data: Path, tmp_path: Path) -> None:
    """Is the next backup to the same place whole, and nothing of the first one there?"""
    assert ended(data, tmp_path / "copy", signal.SIGKILL) == -signal.SIGKILL
    assert (tmp_path / "copy.partial").exists()
    again = call("store", "backup", str(data), str(tmp_path / "copy"))
    assert (again.returncode, again.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "data"]
    assert call("store", "check", str(tmp_path / "copy")).returncode == 0
