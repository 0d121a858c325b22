"""`lapwingd` as a process of its own, as cargo has built it for the tests of its room."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]
BUILD_S = 900
"""A build from nothing, on a busy machine."""
_END_S = 30
_TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")


def build() -> Path:
    """The program, as tests of the Rust rooms have left it; built as they build it where a source is newer."""
    program = _TARGET / "debug" / "lapwingd"
    if not program.exists() or program.stat().st_mtime < _newest_source():
        command = ["cargo", "test", "--locked", "--workspace", "--quiet", "--no-run", "--test", "process"]
        subprocess.run(command, cwd=ROOT, check=True, timeout=BUILD_S)
    return program


def _newest_source() -> float:
    files = [ROOT / "Cargo.lock", *(ROOT / "crates").rglob("*.rs"), *(ROOT / "crates").rglob("*.json")]
    return max(file.stat().st_mtime for file in files)


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
        self.url, self.http_url = said["mqtt"], said["http"]

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        _, said = self._process.communicate(timeout=_END_S)
        assert self._process.returncode == 0, said
