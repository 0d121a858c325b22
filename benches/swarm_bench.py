"""The swarm alone, into a sink on the other core: what it can send, and what it adds to a latency.

A figure of a broker is only as good as these: a load that is slower than the broker measures itself.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from benches.brokers import wait_for_port
from benches.load import Report, median, swarm
from benches.table import print_table, verdict
from lapwing.lab.ports import free_port

SINK, LOAD = {0}, {1}


@contextlib.contextmanager
def _sink(*, echo: bool) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "lapwing", "swarm", "sink", "--port", str(port), "--spin", "--json"]
    process = subprocess.Popen(
        [*command, *(["--echo"] if echo else [])],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, SINK),
    )
    try:
        wait_for_port(port)
        yield f"tcp://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def _send(seconds: float) -> Report:
    with _sink(echo=False) as url:
        return swarm("devices", url, LOAD, seconds=seconds, publishers=10, rate=0)


def _echo(seconds: float) -> Report:
    with _sink(echo=True) as url:
        command = {"publishers": 10, "rate": 10_000, "flags": ("--loopback",)}
        return swarm("p2p", url, LOAD, seconds=seconds, **command)


def run(*, quick: bool) -> None:
    """Prints the table and whether the targets are reached."""
    rounds, seconds = (1, 2.0) if quick else (3, 5.0)
    sent = median([_send(seconds) for _ in range(rounds)], lambda report: report["sent_per_s"])
    echoed = [_echo(seconds) for _ in range(rounds)]
    p50 = median(echoed, lambda report: report["latency_us"]["p50"])
    p99 = median(echoed, lambda report: report["latency_us"]["p99"])
    rows = [("QoS 0 publishes/s from one core into the sink", sent)]
    rows += [("echo at 10,000/s, p50 us, both ways", p50), ("echo at 10,000/s, p99 us", p99)]
    print_table(f"the swarm alone; medians of {rounds} runs of {seconds:.0f} s", ("what", "figure"), rows)
    verdict("QoS 0 publishes per second", sent, 500_000)
    verdict("microseconds that swarm and sink together add, p50", p50, 20, at_most=True)
