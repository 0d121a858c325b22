"""`lapwingd` as a process of its own, as cargo has built it for the tests of its room."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
_BUILD_S, _END_S = 100, 30


def build() -> Path:
    """The program. As CI builds it, with the features of all tests: where it is there cargo looks and does nothing."""
    command = ["cargo", "test", "--locked", "--workspace", "--quiet", "--no-run", "--test", "process"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=_BUILD_S)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return ROOT / target / "debug" / "lapwingd"


class Daemon:
    """One that clients can connect to, until the end of the block."""

    def __init__(self, program: Path, folder: Path) -> None:
        command = [str(program), "--config", "lapwing.toml"]
        self._process = subprocess.Popen(
            command, cwd=folder, env={}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self._process.stdout is not None
        said = {}
        for line in self._process.stdout:
            protocol, _, url = line.strip().partition(" ")
            said[protocol] = url
            if protocol == "ready":
                break
        if "ready" not in said:
            raise AssertionError(self._process.communicate(timeout=_END_S)[1])
        self.http_url = said["http"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        _, said = self._process.communicate(timeout=_END_S)
        assert self._process.returncode == 0, said
