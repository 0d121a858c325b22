"""Where this program and its Python lie: who may write there could change what looks at files."""

from __future__ import annotations

import functools
import os
import site
import sysconfig
from pathlib import Path

import lapwing


def is_of_program(path: Path) -> bool:
    """Whether a file or folder, links followed, is Python's, or installed beside it, or a part of ``lapwing``."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(folder) for folder in _folders())


@functools.cache
def _folders() -> frozenset[Path]:
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    installed += [*site.getsitepackages(), site.getusersitepackages(), *lapwing.__path__]
    return frozenset(Path(os.path.realpath(folder)) for folder in installed)
