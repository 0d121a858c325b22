"""Builds mqtt-sn-tools, somebody else's clients of MQTT-SN in C (MIT), for the tests: in a folder of their own.

    python3 tools/mqtt_sn_tools.py FOLDER     # FOLDER/mqtt-sn-pub and FOLDER/mqtt-sn-sub are the programs

The source is one commit of its repository: git takes nothing else for it, as the name of a commit is a hash of what
it holds. Exit status 0: they are there. 1: they cannot be had here; one line says why.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = "https://github.com/njh/mqtt-sn-tools"
COMMIT = "a1dd870684f6c9647eb26057705059dc383a6c27"
PROGRAMS = ("mqtt-sn-pub", "mqtt-sn-sub")
TIMEOUT_S = 60


class UnobtainableError(Exception):
    """Why they cannot be had here."""


def run(folder: Path, *command: str) -> str:
    """Output of a command in `folder`."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise UnobtainableError(f"{command[0]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def build(folder: Path) -> None:
    """Fetches the commit, and puts the programs into `folder`."""
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None or shutil.which("git") is None:
        raise UnobtainableError("git or a C compiler is missing")
    with tempfile.TemporaryDirectory() as name:
        source = Path(name)
        run(source, "git", "init", "--quiet")
        run(source, "git", "fetch", "--quiet", "--depth=1", REPOSITORY, COMMIT)
        run(source, "git", "checkout", "--quiet", COMMIT)
        folder.mkdir(parents=True, exist_ok=True)
        for program in PROGRAMS:
            sources = (f"{program}.c", "mqtt-sn.c")
            run(source, compiler, "-O1", "-w", f"-DVERSION={COMMIT[:7]}", "-o", str(folder / program), *sources)


def main() -> int:
    """Builds unless they are there."""
    folder = Path(sys.argv[1]).absolute()
    is_built = folder / f"{COMMIT}.built"
    try:
        if not is_built.exists():
            build(folder)
            is_built.touch()
    except (UnobtainableError, subprocess.TimeoutExpired, OSError) as error:
        print(f"    mqtt-sn-tools are not to be had here: {error}")
        return 1
    print(f"    mqtt-sn-tools {COMMIT[:7]}: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
