"""Writes every file that is made from the code, where it would be another one now: `make pages`.

Tests compare each with what its maker says today (`tests/docs`, `tests/lapwingd`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAPWINGD = Path("crates", "lapwingd")
MADE = {
    Path("docs", "configuration.md"): ["configuration_reference.py"],
    Path("docs", "metrics.md"): ["metrics_reference.py"],
    Path("docs", "tables.md"): ["tables_reference.py"],
    LAPWINGD / "src" / "configuration" / "model.json": ["lapwingd_model.py"],
    LAPWINGD / "tests" / "same" / "values.json": ["lapwingd_verdicts.py"],
}
"""File -> its maker in `tools`, with arguments; it prints the file."""
STARTED = ("asked", "edge", "small")
"""Configurations of `lapwingd` whose node is written down, read where their relative paths lead."""


def write(file: Path, maker: list[str], folder: Path) -> bool:
    """Runs one maker in ``folder``; whether the file is another one now. A maker that fails leaves it as it is."""
    command = [sys.executable, str(ROOT / "tools" / maker[0]), *maker[1:]]
    printed = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE).stdout
    if file.read_bytes() == printed:
        return False
    file.write_bytes(printed)
    return True


def main() -> None:
    """Entry point."""
    same = LAPWINGD / "tests" / "same"
    todo = [(file, maker, ROOT) for file, maker in MADE.items()]
    todo += [
        (same / f"{name}.json", ["lapwingd_model.py", f"tests/same/{name}.toml"], ROOT / LAPWINGD) for name in STARTED
    ]
    for file, maker, folder in todo:
        print(f"{'written' if write(ROOT / file, maker, folder) else 'as it was':<10}{file}", flush=True)


if __name__ == "__main__":
    main()
