"""`make soak`: an hour of mixed load at half of what the machine does; memory, disk and descriptors must stay flat.

    python -m benches.soak --minutes 60 --out out/soak

Pairs at QoS 1, devices into a stream, sessions that sleep and wake, retained messages that come and go, and a probe.
Samples go to samples.json, the picture to soak.png; exit code 1 when something grew, was lost or broke.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benches import machine
from benches.brokers import lapwing
from benches.soak_load import SETTINGS, Load
from benches.soak_picture import draw
from benches.soak_samples import ALLOWED, Sample, grown, growth, sample

SAMPLES, SAMPLE_S_MIN = 360, 1.0
SLICE_S_MAX = 60.0


def soak(minutes: float, share: float, out: Path) -> dict[str, Any]:
    """Loads a broker for so long; writes samples and picture; returns the figures."""
    cpus, seconds = os.sched_getaffinity(0), minutes * 60
    out.mkdir(parents=True, exist_ok=True)
    with lapwing(cpus, shards=len(cpus), settings=SETTINGS) as broker:
        load = Load(broker.url, cpus, share, min(SLICE_S_MAX, seconds / 4))
        load.calibrate()
        data = Path(os.readlink(f"/proc/{broker.pid}/cwd"), "data")
        load.start()
        try:
            samples = _watch(load, broker.pid, data, seconds)
        finally:
            load.stop()
    if load.failed:
        raise load.failed[0]
    totals = load.totals
    result = {
        "machine": machine.describe(),
        "minutes": minutes,
        "rates": {name: round(rate) for name, rate in load.rates.items()},
        "acknowledged": totals.acknowledged,
        "lost": sum(totals.lost.values()) + totals.missed,
        "errors": sum(totals.errors.values()),
        "taken_by_sleepers": totals.slept,
        "growth": {figure: round(growth(samples, figure), 3) for figure in ALLOWED},
        "grown": sorted(grown(samples)),
    }
    samples_json = [asdict(one) for one in samples]
    (out / "samples.json").write_text(json.dumps({**result, "samples": samples_json}, indent=1) + "\n")
    rates = f"{load.rates['pairs']:,.0f}/s in pairs, {load.rates['devices']:,.0f}/s of devices into a stream"
    title = f"{minutes:g} minutes at {share:.0%} of the machine"
    draw(samples, title, f"{rates}; {result['machine']}", out / "soak.png")
    return result


def _watch(load: Load, pid: int, data: Path, seconds: float) -> list[Sample]:
    began, samples = time.monotonic(), []
    every_s = max(SAMPLE_S_MIN, seconds / SAMPLES)
    while time.monotonic() - began < seconds and not load.failed:
        time.sleep(every_s)
        samples.append(sample(began, pid, data, load.latencies))
    return samples


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benches.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--share", type=float, default=0.5, help="of what the machine does")
    parser.add_argument("--out", type=Path, default=Path("out/soak"))
    options = parser.parse_args()
    result = soak(options.minutes, options.share, options.out)
    print(json.dumps(result, indent=1))
    return 1 if result["grown"] or result["lost"] or result["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
