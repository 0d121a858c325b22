"""Installs the newest wheel of dist/ into an empty virtual environment and runs both demos and `lapwingd` there.

Shows that the wheel carries all that the product needs, that it is not larger than it may be, and that its executable
starts wherever pip takes it. Standard library only; exit status 1 on failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

BYTES_MAX = 40_000_000
"""Of a wheel, with `lapwingd` in it."""


def main() -> int:
    """Builds the environment, installs, runs the demos, checks their summaries."""
    wheels = sorted(Path("dist").resolve().glob("lapwing-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        print("no wheel in dist/: run `make wheel` first", file=sys.stderr)
        return 1
    wheel, size = wheels[-1], wheels[-1].stat().st_size
    if size > BYTES_MAX:
        print(f"{wheel.name} has {size / 1e6:.1f} MB, and may have {BYTES_MAX / 1e6:.0f}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="lapwing-wheel-") as folder:
        home = Path(folder)
        print(f"  {wheel.name} ({size / 1e6:.1f} MB) into an empty environment", flush=True)
        venv.create(home / "venv", with_pip=True)
        lock = Path("requirements.lock").resolve()
        pip = [str(home / "venv/bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, str(wheel), "--constraint", str(constraints(lock, home))], check=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        if fault := daemon_fault(home / "venv/bin/lapwingd", wheel.name, clean):
            print(fault, file=sys.stderr)
            return 1
        if fault := cluster_fault(home / "venv/bin/lapwing", home, clean):
            print(fault, file=sys.stderr)
            return 1
        demo = [str(home / "venv/bin/lapwing"), "demo", "--devices", "20", "--seconds", "5", "--out", "result"]
        subprocess.run(demo, cwd=home, env=clean, check=True)
        summary = json.loads((home / "result/summary.json").read_text())
        print(f"  sent {summary['sent']}, received {summary['received']}, lost {summary['lost']}")
        return 0 if summary["sent"] == summary["received"] > 0 else 1


def daemon_fault(program: Path, wheel: str, environment: dict[str, str]) -> str | None:
    """What is wrong with the executable in the environment, if it is another one than the wheel's."""
    said = subprocess.run(
        [str(program), "--version"], env=environment, check=True, capture_output=True, text=True
    ).stdout
    print(f"  {said.strip()} ({program.stat().st_size / 1e6:.1f} MB)", flush=True)
    if said != f"lapwingd {wheel.split('-')[1]}\n":
        return f"{program.name} --version says {said!r} in {wheel}"
    return None


def cluster_fault(program: Path, home: Path, environment: dict[str, str]) -> str | None:
    """What is wrong with a cluster of three whose active node is killed once."""
    demo = [str(program), "cluster", "demo", "--clients", "40", "--kills", "1", "--seconds", "5"]
    done = subprocess.run(demo, cwd=home, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    verdict = next(reversed(done.stdout.splitlines()), "nothing was printed")
    print(f"  {verdict}", flush=True)
    is_whole = done.returncode == 0 and verdict.endswith(": 0 lost, 0 twice")
    return None if is_whole else f"lapwing cluster demo ended with code {done.returncode}: {verdict}"


def constraints(lock: Path, home: Path) -> Path:
    """The lock file without its hashes: pip takes no hashes in constraints beside an unhashed wheel."""
    lines = [line.split(" \\")[0] for line in lock.read_text().splitlines() if line and line[0] not in " #"]
    path = home / "constraints.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
