"""Messages per second that consumers and publishers in Python reach, beside paho-mqtt in the same run.

The broker has one core, the clients share the other: each figure is what one core of Python gives.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys

from benches.brokers import lapwing
from benches.table import print_table

BROKER, CLIENTS = {0}, {1}
PAYLOAD_BYTES = 64
SECONDS_MAX = 300

CONSUMERS = ("paho", "consumer", "run", "async", "batches")
PUBLISHERS = ("paho", "publisher", "async")


def _measure(role: str, subject: str, url: str, messages: int) -> float:
    """Messages per second of one subject, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benches.client_subjects", role, subject, url, str(messages)],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        preexec_fn=lambda: os.sched_setaffinity(0, CLIENTS),
    )
    if done.returncode:
        raise RuntimeError(f"{role} {subject}: {done.stderr[-2000:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["per_s"])


def _table(role: str, subjects: tuple[str, ...], messages: int, rounds: int) -> None:
    figures: dict[str, list[float]] = {subject: [] for subject in subjects}
    # What waits in a consumer's session before it begins must not be dropped.
    settings = ("broker.http=off", f"limits.queue_messages_max={2 * messages}", "limits.queue_bytes_max=512MiB")
    for _ in range(rounds):
        for subject in subjects:
            with lapwing(BROKER, settings=settings) as broker:
                figures[subject].append(_measure(role, subject, broker.url, messages))
    paho = statistics.median(figures["paho"])
    rows = [
        (subject, statistics.median(own), min(own), max(own), statistics.median(own) / paho)
        for subject, own in figures.items()
    ]
    print_table(
        f"{role}: QoS 1, {PAYLOAD_BYTES} B, {messages:,} messages; medians of {rounds} alternating runs",
        ("subject", "messages/s", "least", "most", "ratio to paho"),
        rows,
    )


def run(*, quick: bool) -> None:
    """Prints one table for consumers and one for publishers."""
    messages, rounds = (5_000, 1) if quick else (50_000, 3)
    _table("consume", CONSUMERS, messages, rounds)
    _table("publish", PUBLISHERS, messages, rounds)
