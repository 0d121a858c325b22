"""The folder that a demo writes to: only a new one, an empty one, or a former demo's."""

from __future__ import annotations

import shutil
from pathlib import Path

from lapwing.errors import ConfigError
from lapwing.pipeline.sinks.paths import check_folder

MARK = ".lapwing-demo"
"""A file that says: a demo made this folder, and the next one may clear what it wrote."""

WRITTEN = (
    "tables",
    "coverage.png",
    "latency.png",
    "loss.png",
    "report.html",
    "summary.json",
    "spark.log",
    ".lapwing-job",
    MARK,
)
"""All that a demo writes. Other files in the folder are left alone."""


def check_claim(out: Path) -> None:
    """Says whether `claim` would take ``out``; touches nothing.

    Raises:
        ConfigError: it holds something else, is a file, or cannot hold tables.
    """
    check_folder("--out", out)
    if out.exists() and not out.is_dir():
        raise ConfigError("this is a file", where=f"--out {out}", remedy="give a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise ConfigError(
            "this folder is not empty, and no demo made it",
            where=f"--out {out}",
            remedy="give another --out, or empty the folder yourself",
        )


def claim(out: Path) -> None:
    """Makes ``out`` ready: made if missing, cleared if a former demo's.

    Raises:
        ConfigError: it holds something else, is a file, or cannot be written.
    """
    check_claim(out)
    try:
        clear(out)
        out.mkdir(parents=True, exist_ok=True)
        (out / MARK).write_text("Made by lapwing demo, which may clear what it wrote here.\n")
    except OSError as problem:
        raise ConfigError(
            f"cannot be written: {problem.strerror}", where=f"--out {out}", remedy="give another --out"
        ) from problem


def clear(out: Path) -> None:
    """Removes what a demo wrote to ``out``, and the folder itself if nothing is left."""
    for name in WRITTEN:
        path = out / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if out.is_dir() and not out.is_symlink() and not any(out.iterdir()):
        out.rmdir()
