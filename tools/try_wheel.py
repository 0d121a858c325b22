"""Installs the newest wheel of dist/ into an empty virtual environment and runs `lapwing demo` there, outside it.

Shows that the wheel carries all that the product needs. Standard library only; exit status 1 on failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path


def main() -> int:
    """Builds the environment, installs, runs the demo, checks its summary."""
    wheels = sorted(Path("dist").resolve().glob("lapwing-*.whl"), key=lambda wheel: wheel.stat().st_mtime)
    if not wheels:
        print("no wheel in dist/: run `make wheel` first", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="lapwing-wheel-") as folder:
        home = Path(folder)
        print(f"  {wheels[-1].name} ({wheels[-1].stat().st_size / 1e6:.1f} MB) into an empty environment", flush=True)
        venv.create(home / "venv", with_pip=True)
        lock = Path("requirements.lock").resolve()
        pip = [str(home / "venv/bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, str(wheels[-1]), "--constraint", str(constraints(lock, home))], check=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        demo = [str(home / "venv/bin/lapwing"), "demo", "--devices", "20", "--seconds", "5", "--out", "result"]
        subprocess.run(demo, cwd=home, env=clean, check=True)
        summary = json.loads((home / "result/summary.json").read_text())
        print(f"  sent {summary['sent']}, received {summary['received']}, lost {summary['lost']}")
        return 0 if summary["sent"] == summary["received"] > 0 else 1


def constraints(lock: Path, home: Path) -> Path:
    """The lock file without its hashes: pip takes no hashes in constraints beside an unhashed wheel."""
    lines = [line.split(" \\")[0] for line in lock.read_text().splitlines() if line and line[0] not in " #"]
    path = home / "constraints.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
