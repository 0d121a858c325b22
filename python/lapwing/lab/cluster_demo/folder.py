"""Where a demo's nodes live: a folder of its own that goes with it, or one that is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lapwing.errors import ConfigError


@contextmanager
def demo_folder(out: Path | None, tell: Callable[[str], None]) -> Iterator[DemoFolder]:
    """The folder; one that nobody named is removed at the end, unless there is something to be found in it.

    Args:
        out: Made where it is missing; None: a new one among those of this machine for a while.
        tell: Told where it lies, when it stays.

    Raises:
        ConfigError: ``out`` is not empty, or no folder.
    """
    folder = DemoFolder(_new() if out is None else _claimed(out), is_kept=out is not None)
    try:
        yield folder
    except KeyboardInterrupt:
        folder.end(tell)
        raise
    except BaseException:
        folder.is_kept = True
        folder.end(tell)
        raise
    folder.end(tell)


class DemoFolder:
    """The folder.

    Attributes:
        path: Where it lies.
        is_kept: It stays behind the end.
    """

    def __init__(self, path: Path, *, is_kept: bool) -> None:
        self.path = path
        self.is_kept = is_kept

    def end(self, tell: Callable[[str], None]) -> None:
        """Removes it, or says where it is."""
        if self.is_kept:
            tell(f"the nodes' logs, configurations and data are in {self.path}")
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def _new() -> Path:
    return Path(tempfile.mkdtemp(prefix="lapwing-cluster-"))


def _claimed(out: Path) -> Path:
    where = f"--out {out}"
    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ConfigError("this is no empty folder", where=where, remedy="give another --out")
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ConfigError(
            f"cannot be written: {problem.strerror}", where=where, remedy="give another --out"
        ) from problem
    return out.absolute()
