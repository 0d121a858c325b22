"""Looks at what others wrote and we build from: licences, sources, pins, known holes. Says what it could not look at.

    make audit                            # as far as the network goes
    make audit ADVISORIES=FOLDER          # with a clone of RustSec's advisory-db at hand

One line for each part. Exit status 1 where something is wrong; what could not be looked at is said, and is no error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RUSTSEC = "https://github.com/RustSec/advisory-db"
PINS = ("python/lapwing/lab/kafka", "python/lapwing/pipeline", "tests/interop/programs/hivemq")


@dataclass(frozen=True)
class Part:
    """What came of one part.

    Attributes:
        name: What was looked at.
        is_wrong: Something has to be mended.
        lacks: What could not be looked at, and why; empty: everything was.
        found: What there is to say besides.
    """

    name: str
    is_wrong: bool
    lacks: str
    found: str

    def line(self) -> str:
        """One line for people."""
        state = "WRONG" if self.is_wrong else "not whole" if self.lacks else "in order"
        return f"  {state:<10} {self.name:<28} {'; '.join(filter(None, (self.found, self.lacks)))}"


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program in the tree; its output as text."""
    environment = os.environ | (environment or {})
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def crates(deny: str) -> Part:
    """Licences, double versions and sources of every crate in Cargo.lock, as deny.toml wants them."""
    done = run([deny, "--locked", "check", "licenses", "bans", "sources"])
    return Part("crates: licences, sources", done.returncode != 0, "", _last_line(done) if done.returncode else "")


def crate_advisories(deny: str, database: Path | None) -> Part:
    """Known holes of crates, as far as RustSec's database is there or can be fetched."""
    name, environment = "crates: advisories", {}
    if database is not None:
        # cargo-deny takes its database from git only: the clone stands in for the original.
        environment = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{database.resolve()}.insteadOf"}
        environment["GIT_CONFIG_VALUE_0"] = RUSTSEC
    fetched = run([deny, "fetch", "db"], environment)
    if fetched.returncode != 0:
        lacks = "no database: RustSec's cannot be fetched here; clone it elsewhere and give ADVISORIES=FOLDER"
        return Part(name, False, lacks, "")
    done = run([deny, "--locked", "check", "advisories"], environment)
    return Part(name, done.returncode != 0, "", f"{_last_line(done)}{_age_of(database)}")


def _age_of(database: Path | None) -> str:
    if database is None:
        return ""
    done = run(["git", "-C", str(database), "log", "-1", "--format=%cs"])
    return f", database of {done.stdout.strip()}" if done.returncode == 0 else ""


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1].strip() if lines else "no output"


def distributions(pip_audit: str) -> Part:
    """Known holes of what requirements.lock pins, as far as the index answers."""
    done = run([pip_audit, "-r", "requirements.lock", "--disable-pip", "--progress-spinner", "off", "--format", "json"])
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return Part("Python: advisories", False, f"the index does not answer ({_last_line(done)})", "")
    return judged(found)


def judged(found: list[dict[str, Any]]) -> Part:
    """What pip-audit's list of distributions means."""
    holes = [f"{one['name']} {one['version']}: {hole['id']}" for one in found for hole in one.get("vulns", ())]
    skipped = [one["name"] for one in found if "skip_reason" in one]
    lacks = f"the index here has no advisories for {len(skipped)} of {len(found)} distributions" if skipped else ""
    return Part("Python: advisories", bool(holes), lacks, ", ".join(holes))


def jars() -> Part:
    """Every pom.xml has hashes beside it, against which `make` holds what Maven fetched."""
    missing = [folder for folder in PINS if not (ROOT / folder / "jars.sha256").is_file()]
    many = sum(
        len((ROOT / folder / "jars.sha256").read_text().splitlines()) for folder in PINS if folder not in missing
    )
    lacks = "advisories of Maven's packages are not looked at: no database is at hand"
    return Part("jars: hashes", bool(missing), lacks, f"{many} pinned" if not missing else f"no hashes: {missing}")


def main() -> int:
    """Looks at everything; exit status 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", nargs="*", type=Path, default=[], help="folders of cargo-deny and pip-audit")
    parser.add_argument("--advisories", type=Path, help="a clone of RustSec's advisory-db")
    arguments = parser.parse_args()
    folders = (str(folder.resolve()) for folder in arguments.programs)
    os.environ["PATH"] = os.pathsep.join((*folders, os.environ["PATH"]))
    parts = [
        crates("cargo-deny"),
        crate_advisories("cargo-deny", arguments.advisories),
        distributions("pip-audit"),
        jars(),
    ]
    for part in parts:
        print(part.line())
    return int(any(part.is_wrong for part in parts))


if __name__ == "__main__":
    sys.exit(main())
