"""mqtt-sn-pub and mqtt-sn-sub, somebody else's clients in C; tests are skipped where they could not be had."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

TIMEOUT_S = 30
FOLDER = Path(__file__).parents[2] / ".cache/interop/mqtt-sn-tools"


def _command(program: str, port: int, *arguments: str) -> list[str]:
    path = FOLDER / program
    if not path.exists():
        pytest.skip(f"{path} is missing: `make interop-clients` builds it, where its source can be had")
    return [str(path), "-h", "127.0.0.1", "-p", str(port), "-k", "60", *arguments]


def pub(port: int, *arguments: str) -> None:
    """mqtt-sn-pub to its end; nothing may go wrong."""
    done = subprocess.run(
        _command("mqtt-sn-pub", port, *arguments), capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert (done.returncode, done.stderr) == (0, "")


class Sub:
    """A running mqtt-sn-sub."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def line(self) -> str:
        """The next message: its topic and payload."""
        assert self._process.stdout
        return self._process.stdout.readline().rstrip("\n")

    def rest(self) -> list[str]:
        """What it still prints until it ends by itself."""
        out, _ = self._process.communicate(timeout=TIMEOUT_S)
        assert self._process.returncode == 0
        return out.splitlines()


@contextmanager
def sub(port: int, *arguments: str) -> Iterator[Sub]:
    """mqtt-sn-sub, told to end at the end of the block."""
    command = _command("mqtt-sn-sub", port, "-v", *arguments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Sub(process)
        finally:
            deadline = time.monotonic() + TIMEOUT_S
            process.terminate()
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            process.kill()
