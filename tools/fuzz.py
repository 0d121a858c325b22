"""Runs the fuzz targets for a time, half of it on connections and nodes; ``--keep`` renews the seeds in the repository.

Builds with the compiler at hand: ``RUSTC_BOOTSTRAP=1`` stands in for a nightly one. ``cargo-fuzz`` must be installed
(``make fuzz`` does it). Ends with 1 when a target found something; the input then lies in ``fuzz/artifacts``. Needs
nothing but Python itself.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FUZZ = Path(__file__).resolve().parent.parent / "fuzz"
WHOLE = ("connection", "node")
INPUT_BYTES_MAX = {
    "connection": 4096,
    "node": 1600,
    "access": 1024,
    "dtls": 400,
    "entries": 2048,
    "envelope": 1024,
    "folder": 160,
    "node_certificates": 1024,
    "peer_frames": 2048,
    "proxy": 4200,
    "snapshot": 2048,
    "tls": 4096,
    "web_frames": 1024,
    "web_head": 8400,
}
"""Longest input of a target, in bytes; others: 512."""
INPUT_S_MAX = {"node": 180}
"""Longest time for one input of a target, in seconds; others: 10. A whole node is waited for, 30 s at a time."""
SEEDS_MAX = {"connection": 40}
"""Seeds that are added for a target in the repository; others: 12."""
SEED_BYTES_MAX = 700
"""Longest of them, in bytes."""


@dataclass(frozen=True)
class Run:
    """What one target did: ``executions`` and ``features`` as libFuzzer counts them."""

    target: str
    seconds: int
    executions: int
    features: int
    found: bool
    log: str


def targets() -> list[str]:
    """Every target, by its file."""
    return sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))


def seconds_for(names: list[str], seconds: int) -> dict[str, int]:
    """Half of the time for connections and nodes, the rest for the others, each in equal parts."""
    kinds = [[name for name in names if (name in WHOLE) == is_whole] for is_whole in (True, False)]
    share = seconds // max(1, sum(bool(kind) for kind in kinds))
    return {name: max(1, share // len(kind)) for kind in kinds for name in kind}


def lacks() -> str | None:
    """What is missing for building a target, and how to get it."""
    if shutil.which("cargo") is None:
        return "cargo is missing: install Rust, https://rustup.rs"
    if shutil.which("cargo-fuzz") is None:
        return "cargo-fuzz is missing: cargo install --locked cargo-fuzz"
    if not any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++")):
        return "a C++ compiler is missing, for libFuzzer: apt-get install g++"
    return None


def build(names: list[str]) -> Path:
    """Compiles the targets; returns the folder of the programs."""
    environment = os.environ | {"RUSTC_BOOTSTRAP": "1"}
    base = ["cargo", "fuzz", "build", "--fuzz-dir", str(FUZZ)]
    for name in names if len(names) < len(targets()) else [""]:
        subprocess.run([*base, *([name] if name else [])], check=True, env=environment, cwd=FUZZ.parent)
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    triple = next(line.removeprefix("host: ") for line in host.splitlines() if line.startswith("host: "))
    return Path(environment.get("CARGO_TARGET_DIR", FUZZ / "target")) / triple / "release"


def run(programs: Path, target: str, seconds: int) -> Run:
    """Fuzzes one target; its start are the corpus, the seeds in the repository, and those that it makes itself."""
    corpus, artifacts = FUZZ / "corpus" / target, FUZZ / "artifacts" / target
    seeds = FUZZ / "seeds" / target
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(programs / target)], check=True, env=os.environ | {"LAPWING_FUZZ_SEEDS": str(corpus)})
    folders = [folder for folder in (corpus, seeds) if folder.is_dir()]
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={INPUT_BYTES_MAX.get(target, 512)}",
        f"-artifact_prefix={artifacts}/",
        "-print_final_stats=1",
        f"-timeout={INPUT_S_MAX.get(target, 10)}",
    ]
    command = [str(programs / target), *options, *map(str, folders)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    log = done.stderr
    log_file(target).write_text(log)
    executions = re.search(r"stat::number_of_executed_units: (\d+)", log)
    features = re.findall(r" ft: (\d+)", log)
    return Run(
        target,
        seconds,
        int(executions[1]) if executions else 0,
        int(features[-1]) if features else 0,
        done.returncode != 0,
        log,
    )


def log_file(target: str) -> Path:
    """Gets all that a target says; what is printed of it may begin behind the cause."""
    return FUZZ / "artifacts" / target / "last.log"


def keep(programs: Path, target: str) -> None:
    """Adds to ``seeds/TARGET`` a few, of all sizes, of the inputs that together reach what corpus and seeds reach."""
    seeds, corpus = FUZZ / "seeds" / target, FUZZ / "corpus" / target
    merged = FUZZ / "corpus" / f"{target}.merged"
    merged.mkdir(parents=True, exist_ok=True)
    longest = f"-max_len={INPUT_BYTES_MAX.get(target, 512)}"
    command = [str(programs / target), "-merge=1", longest, *map(str, (merged, seeds, corpus))]
    subprocess.run(command, check=True, capture_output=True)
    small = [path for path in merged.iterdir() if 0 < path.stat().st_size <= SEED_BYTES_MAX]
    small.sort(key=lambda path: (path.stat().st_size, path.name))
    wanted = SEEDS_MAX.get(target, 12)
    for path in small[:: max(1, len(small) // wanted)][:wanted]:
        (seeds / path.name[:12]).write_bytes(path.read_bytes())
    for path in merged.iterdir():
        path.unlink()
    merged.rmdir()


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="fuzzing time of all targets together")
    parser.add_argument("--jobs", type=int, default=2, help="targets at once")
    parser.add_argument("--keep", action="store_true", help="renew fuzz/seeds from what was found")
    parser.add_argument("targets", nargs="*", default=targets())
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.targets) - set(targets())):
        parser.error(f"there is no target {', '.join(unknown)}; there are {', '.join(targets())}")
    if missing := lacks():
        print(missing, file=sys.stderr)
        return 2
    programs = build(arguments.targets)
    times = seconds_for(arguments.targets, arguments.seconds)
    longest_first = sorted(times, key=lambda name: -times[name])
    with ThreadPoolExecutor(arguments.jobs) as pool:
        runs = list(pool.map(lambda name: run(programs, name, times[name]), longest_first))
    print(f"{'target':<12} {'seconds':>8} {'executions':>12} {'features':>9}")
    for one in runs:
        mark = "  FOUND" if one.found else ""
        print(f"{one.target:<12} {one.seconds:>8} {one.executions:>12,} {one.features:>9,}{mark}")
    print(f"{'all':<12} {sum(one.seconds for one in runs):>8} {sum(one.executions for one in runs):>12,}")
    for one in (one for one in runs if one.found):
        print(f"\n{one.target}, the end of {log_file(one.target)}:\n{one.log[-4000:]}", file=sys.stderr)
    if arguments.keep:
        # The others make their own.
        for name in (name for name in times if (FUZZ / "seeds" / name).is_dir()):
            keep(programs, name)
    return int(any(one.found for one in runs))


if __name__ == "__main__":
    sys.exit(main())
