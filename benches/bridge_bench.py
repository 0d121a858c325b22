"""Messages per second that one member of the bridge carries, into Kafka and into nothing; and how late they are there.

Throughput: what waits in a declared group is carried by one member, broker and Kafka on the same cores. Latency: from
`publish` in one process to a Kafka consumer in another, at a rate that is kept whatever happens.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches.bridge_subjects import BYTES, DEVICES, FILTER, TOPIC
from benches.brokers import lapwing
from benches.table import print_table, verdict

ALL = {0, 1}
SECONDS_MAX = 600
LATENCY_PER_S = 5_000
GROUP = f'groups.bridge={{filters = ["{FILTER}"], queue_messages_max = 10000000, queue_bytes_max = "4GiB"}}'


def _run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benches.bridge_subjects", *words], capture_output=True, text=True, timeout=SECONDS_MAX
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]}: {done.stderr[-2000:]}")
    return done.stdout


def _rates(messages: int, rounds: int, bootstrap: str) -> None:
    rows = []
    for role, durability, batch, target in (
        ("kafka", "memory", 1_000, 60_000),
        ("kafka", "memory", 5_000, 60_000),
        ("kafka", "disk", 5_000, 60_000),
        ("null", "memory", 5_000, 150_000),
    ):
        figures = []
        for _ in range(rounds):
            window = f"limits.inflight_messages_max={2 * batch}"
            settings = ("broker.http=off", f"broker.durability={durability}", GROUP, window)
            with lapwing(ALL, settings=settings) as broker:
                _run("publish", broker.url, str(messages), "0")
                said = _run(role, broker.url, bootstrap, str(messages), str(batch))
                figures.append(json.loads(said.splitlines()[-1]))
        per_s = statistics.median(each["per_s"] for each in figures)
        cpu_us = statistics.median(each["cpu_us"] for each in figures)
        taken = statistics.median(each["batch"] for each in figures)
        rows.append((role, durability, batch, per_s, cpu_us, taken, target))
    print_table(
        f"one member, {BYTES} B, {DEVICES} topics, {messages:,} messages that wait; medians of {rounds} runs",
        ("into", "group on", "batch", "messages/s", "member's CPU us each", "messages a batch", "asked for"),
        rows,
    )
    for role, durability, batch, per_s, *_, target in rows:
        verdict(f"{role}, {durability}, batches of {batch:,}: messages/s", per_s, target)


def _latency(seconds: float, bootstrap: str) -> None:
    from confluent_kafka import Consumer

    messages = int(seconds * LATENCY_PER_S)
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": f"bench-{time.time_ns()}", "auto.offset.reset": "latest"}
        | {"fetch.wait.max.ms": 10, "log_level": 0}
    )
    with lapwing(ALL, settings=("broker.http=off", GROUP)) as broker:
        words = [sys.executable, "-m", "benches.bridge_subjects"]
        member = subprocess.Popen(
            [*words, "kafka", broker.url, bootstrap, str(messages), "1000"], stdout=subprocess.DEVNULL
        )
        consumer.subscribe([TOPIC])
        while not consumer.assignment():
            consumer.poll(0.1)
        consumer.poll(1.0)
        publisher = subprocess.Popen([*words, "publish", broker.url, str(messages), str(LATENCY_PER_S)])
        took_ms: list[float] = []
        deadline = time.monotonic() + seconds + 60
        while len(took_ms) < messages and time.monotonic() < deadline:
            # Not one call for many: it would wait for all of them.
            first = consumer.poll(0.2)
            now_ns = time.monotonic_ns()
            records = [] if first is None else [first, *consumer.consume(1_000, 0.0)]
            took_ms += [(now_ns - int(record.value()[:20])) / 1e6 for record in records if record.error() is None]
        publisher.wait(60)
        member.wait(60)
    consumer.close()
    after_start = sorted(took_ms[LATENCY_PER_S:] or took_ms)
    shown = [after_start[min(len(after_start) - 1, int(len(after_start) * q))] for q in (0.5, 0.9, 0.99, 0.999)]
    print_table(
        f"publish to Kafka consumer at {LATENCY_PER_S:,}/s for {seconds:g} s, without the first second",
        ("received", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms"),
        [(len(took_ms), *shown)],
    )
    verdict("p99 of the latency, ms", shown[2], 100, at_most=True)


def run(*, quick: bool) -> None:
    """Prints throughput and latency; needs Java and `make kafka-jars`."""
    from lapwing.lab.kafka import LocalKafka

    messages, rounds, seconds = (50_000, 1, 5.0) if quick else (500_000, 3, 20.0)
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder, LocalKafka(Path(folder), heap="1g") as kafka:
        kafka.create_topic(TOPIC, partitions=4)
        _rates(messages, rounds, kafka.bootstrap)
        _latency(seconds, kafka.bootstrap)
