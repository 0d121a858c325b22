"""What the others feel of a hostile client: p99 of a quiet load beside it, and without it, in turn.

The broker has one event loop and a core to itself, so the hostile client and all others share that loop: there is no
harder place to keep them apart. The load and the hostile client have the other core, the latter only while the load
does not want it: what it takes from the load generator is not the broker's doing. The target: p99 within twice that of
the same load alone.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

from benches.brokers import RunningBroker, lapwing
from benches.hostile_clients import KINDS
from benches.load import Report, swarm
from benches.table import print_table, verdict

BROKER, CLIENTS = {0}, {1}
RATE_PER_S = 2_000
PAIRS = 50
RATIO_MAX = 2.0
LIMITS = ("limits.output_stall=10m",)
"""A slow reader is to stay for the whole run."""


@contextlib.contextmanager
def hostile(kind: str, broker: RunningBroker) -> Iterator[None]:
    """A hostile client at work against `broker`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benches.hostile_clients", kind, broker.url],
        preexec_fn=lambda: os.sched_setaffinity(0, CLIENTS),
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _load(broker: RunningBroker, seconds: float) -> Report:
    return swarm("p2p", broker.url, CLIENTS, seconds=seconds, publishers=PAIRS, rate=RATE_PER_S, qos=0)


def run(*, quick: bool) -> None:
    """Prints one row per kind of hostile client, and whether the target is reached."""
    rounds, seconds = (3, 2.0) if quick else (5, 5.0)
    rows, worst = [], 0.0
    for kind in KINDS:
        alone: list[float] = []
        beside: list[float] = []
        lost = 0
        for _ in range(rounds):
            with lapwing(BROKER, shards=1, settings=LIMITS) as broker:
                alone.append(_load(broker, seconds)["latency_us"]["p99"])
                with hostile(kind, broker):
                    report = _load(broker, seconds)
            beside.append(report["latency_us"]["p99"])
            lost += report["lost"]
        ratio = statistics.median(beside) / statistics.median(alone)
        worst = max(worst, ratio)
        rows.append((kind, statistics.median(alone), statistics.median(beside), ratio, lost))
    print_table(
        f"p99 of {PAIRS} pairs at {RATE_PER_S:,} messages/s, QoS 0, beside one hostile client; "
        f"medians of {rounds} alternating runs of {seconds:.0f} s",
        ("hostile client", "alone us", "beside it us", "ratio", "lost"),
        rows,
    )
    verdict("p99 beside a hostile client, times that without it", worst, RATIO_MAX, at_most=True)
