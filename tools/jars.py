"""Holds the jars that Maven fetched against the hashes in the tree: what is in the folder is what was looked at once.

    python3 tools/jars.py check FOLDER PINS   # each jar has its pinned hash, each pin its jar; else FOLDER goes
    python3 tools/jars.py pin FOLDER PINS     # writes the hashes of a folder, after somebody looked at what changed

PINS is what `sha256sum` writes. Standard library only: it runs before there is a virtual environment.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

Hashes = dict[str, str]
"""SHA-256 in hexadecimal by the jar's name."""


def hashes_of(folder: Path) -> Hashes:
    """Of every file there; a jar is nothing else than its bytes."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


def read_pins(text: str) -> Hashes:
    """What `sha256sum` wrote: the hash, two blanks, the name."""
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines() if line)}


def differences(found: Hashes, pinned: Hashes) -> list[str]:
    """What is not as it was pinned, a line each."""
    strange = [f"{name}: not pinned" for name in found if name not in pinned]
    missing = [f"{name}: pinned, and not there" for name in pinned if name not in found]
    wrong = [f"{name}: another hash" for name, digest in found.items() if pinned.get(name, digest) != digest]
    return strange + missing + wrong


def check(folder: Path, pins: Path) -> int:
    """Exit status; a folder that is not as pinned is removed, so that nothing runs what is in it."""
    wrong = differences(hashes_of(folder), read_pins(pins.read_text()))
    for line in wrong:
        print(f"jars: {line}", file=sys.stderr)
    if not wrong:
        return 0
    shutil.rmtree(folder)
    print(f"jars: {folder} is removed; {pins} says what belongs there", file=sys.stderr)
    return 1


def pin(folder: Path, pins: Path) -> int:
    """Writes the hashes of what is there."""
    pins.write_text("".join(f"{digest}  {name}\n" for name, digest in hashes_of(folder).items()))
    return 0


def main(arguments: list[str]) -> int:
    """Command line, as above."""
    commands = {"check": check, "pin": pin}
    if len(arguments) != 3 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    return commands[arguments[0]](Path(arguments[1]), Path(arguments[2]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
