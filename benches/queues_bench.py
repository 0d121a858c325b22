"""Queues of those who sleep: bytes written for a fan-out, the first message after CONNACK, draining, memory.

Everything at QoS 1 with `fdatasync`, on one broker with one shard; the load has the second core.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import threading
from pathlib import Path

from benches.brokers import RunningBroker, lapwing
from benches.load import Report, swarm
from benches.resident import resident_mib
from benches.sleeper import drain, fall_asleep, fill, first_message_ms
from benches.table import print_table, verdict

BROKER, LOAD = {0, 1}, {1}
ROOMY = ("limits.queue_messages_max=20000000", "limits.queue_bytes_max=8GiB", "limits.memory_high_bytes=12GiB")
GROUPS = 16
SLEEPERS = 100
OTHERS_PER_S = 2_000
MEMORY_MIB = 256
PAYLOAD_BYTES = 100
RETURNS = 200


def _written_bytes(pid: int) -> int:
    """What the process has given to write(2) and its like; sockets are not in it."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split(":")[1]) for line in lines if line.startswith("wchar"))


def _fan_out(messages: int, payload_bytes: int) -> None:
    """Prints what one message to a hundred sleepers costs on disk."""
    with lapwing(BROKER, settings=ROOMY) as broker:
        for number in range(SLEEPERS):
            fall_asleep(broker.url, f"sleeper-{number}", "fan/#")
        before = _written_bytes(broker.pid)
        sent = fill(broker, "fan", messages, payload_bytes, LOAD)
        each = (_written_bytes(broker.pid) - before) / sent
    bound = 1.3 * payload_bytes * GROUPS + 40 * SLEEPERS
    print_table(
        f"1:{SLEEPERS}, all away, {sent:,} messages of {payload_bytes} B; {GROUPS} data groups touched",
        ("written a message, B", "bodies x groups, B", "ratio"),
        [(each, float(payload_bytes * GROUPS), each / (payload_bytes * GROUPS))],
    )
    verdict("bytes written a message, 1.3 x bodies x groups + 40 a sleeper", each, bound, at_most=True)


def _others(broker: RunningBroker, seconds: float) -> Report:
    return swarm(
        "p2p", broker.url, LOAD, seconds=seconds, flags=("--no-spin",), publishers=20, qos=1, rate=OTHERS_PER_S
    )


def _beside_a_busy_program(broker: RunningBroker, seconds: float) -> float:
    """p99 of others in us while a program that only computes takes a core, as one that drains a queue does."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            return float(_others(broker, seconds)["latency_us"]["p99"])
        finally:
            busy.kill()


def _wake(messages: int) -> None:
    """Prints how soon one hears something, and how fast another is served, while a million messages wait."""
    with lapwing(BROKER, settings=ROOMY) as broker:
        for name in ("few", "many"):
            fall_asleep(broker.url, name, f"{name}/#")
        fill(broker, "few", 1000, 200, LOAD)
        alone = [first_message_ms(broker.url, "few") for _ in range(RETURNS)]
        waiting = fill(broker, "many", messages, 200, LOAD)
        first = [first_message_ms(broker.url, "few") for _ in range(RETURNS)]
        seconds = max(messages / 150_000, 2.0)
        quiet_us = _others(broker, seconds)["latency_us"]["p99"]
        control_us = _beside_a_busy_program(broker, seconds)
        rate: list[float] = []
        drainer = threading.Thread(target=lambda: rate.append(drain(broker.url, "many", "many/#", waiting)))
        drainer.start()
        busy_us = _others(broker, seconds)["latency_us"]["p99"]
        drainer.join()
    rows = [
        ("first message after CONNACK, nothing else waiting, ms", *_spread(alone)),
        (f"the same with {waiting:,} others queued, ms", *_spread(first)),
    ]
    print_table(f"one who comes back, {RETURNS} times", ("what", "median", "p99", "worst"), rows)
    print_table(
        f"others at {OTHERS_PER_S:,}/s, p99 in us",
        ("alone", "beside a program that only computes", "beside one that drains a queue"),
        [(quiet_us, control_us, busy_us)],
    )
    verdict(f"first message after CONNACK with {waiting:,} others queued, p99, ms", _spread(first)[1], 5, at_most=True)
    verdict(f"drained per second, {waiting:,} messages of 200 B", rate[0], 200_000)
    verdict(f"p99 of others at {OTHERS_PER_S:,}/s meanwhile, times that before", busy_us / quiet_us, 2, at_most=True)


def _spread(times: list[float]) -> tuple[float, float, float]:
    """Median, p99 (of those measured, nothing in between) and the worst."""
    in_order = sorted(times)
    return statistics.median(in_order), in_order[math.ceil(0.99 * len(in_order)) - 1], in_order[-1]


def _memory(messages: int) -> None:
    """Prints what the broker's memory grows by while so many wait."""
    with lapwing(BROKER, settings=ROOMY) as broker:
        fall_asleep(broker.url, "sleeper", "deep/#")
        before, written = resident_mib(broker.pid), _written_bytes(broker.pid)
        sent = fill(broker, "deep", messages, PAYLOAD_BYTES, LOAD)
        after, written = resident_mib(broker.pid), _written_bytes(broker.pid) - written
    print_table(
        f"{sent:,} messages of {PAYLOAD_BYTES} B wait for one session",
        ("broker before, MiB", "then, MiB", "bytes a message", "written, times the payloads"),
        [(before, after, (after - before) * 2**20 / sent, written / (sent * PAYLOAD_BYTES))],
    )
    verdict("MiB more", after - before, MEMORY_MIB, at_most=True)


def run(*, quick: bool) -> None:
    """Prints the tables and whether the targets are reached."""
    _fan_out(2_000 if quick else 20_000, 1024)
    _wake(100_000 if quick else 1_000_000)
    _memory(200_000 if quick else 10_000_000)
