"""The demo as a user runs it: 1,000 devices for 30 s, Spark included; seconds until the report."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches.table import print_table, verdict

SECONDS_MAX = 180


def run(*, quick: bool) -> None:
    """Prints the seconds of each phase and whether the demo stays within its time, nothing lost."""
    devices, seconds = (50, 5) if quick else (1000, 30)
    with tempfile.TemporaryDirectory(prefix="lapwing-demo-") as folder:
        command = [
            sys.executable,
            "-m",
            "lapwing",
            "demo",
            "--devices",
            str(devices),
            "--seconds",
            str(seconds),
        ]
        started = time.monotonic()
        subprocess.run([*command, "--out", f"{folder}/out"], check=True, capture_output=True)
        took = time.monotonic() - started
        summary = json.loads(Path(folder, "out/summary.json").read_text())
    figures = [(name, summary[name]) for name in ("sent", "received", "lost", "repeated")]
    phases = [(f"{phase}, seconds", float(value)) for phase, value in summary["seconds"].items()]
    print_table(f"demo, {devices:,} devices for {seconds} s", ("what", "figure"), [*figures, *phases])
    verdict("seconds from command to report", took, SECONDS_MAX, at_most=True)
    verdict("readings lost or repeated", summary["lost"] + summary["repeated"], 0, at_most=True)
