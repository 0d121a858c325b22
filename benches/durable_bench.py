"""What durability costs: QoS 1 acknowledged after `fdatasync`, each publisher with one kept session behind it.

Beside it the same in memory, and Mosquitto with its strictest settings (it saves after each change, and syncs nothing).
Latency at half of the rate is quoted in times of the disk's own `fdatasync`, measured before and after.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable

from benches.brokers import RunningBroker, lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.table import print_table, verdict

BROKER, LOAD = {0, 1}, {1}
PAIRS = 50
PAYLOAD_BYTES = 200
EXPIRY_S = 3600
SYNCS = 500
SYNC_BYTES = 4096

OURS, MEMORY, THEIRS = "lapwing, disk", "lapwing, memory", "mosquitto, strictest"
KEPT_NOT, MEMORY_NOT = "disk, nobody kept", "memory, nobody kept"


def _pairs(broker: RunningBroker, seconds: float, rate: float = 0, expiry_s: int = EXPIRY_S) -> Report:
    return swarm(
        "p2p",
        broker.url,
        LOAD,
        seconds=seconds,
        flags=("--no-spin",),
        publishers=PAIRS,
        payload=PAYLOAD_BYTES,
        qos=1,
        rate=rate,
        window=200,
        session_expiry=expiry_s,
        broker_pid=broker.pid,
    )


def _ours(seconds: float, durability: str, rate: float = 0, expiry_s: int = EXPIRY_S) -> Report:
    with lapwing(BROKER, settings=(f"broker.durability={durability}",)) as broker:
        return _pairs(broker, seconds, rate, expiry_s)


def _theirs(seconds: float, rate: float = 0) -> Report:
    with mosquitto(BROKER, saves=True) as broker:
        return _pairs(broker, seconds, rate)


def fdatasync_us() -> list[float]:
    """Times of `fdatasync` after one page each, in microseconds, in order of length."""
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        file = os.open(f"{folder}/file", os.O_CREAT | os.O_RDWR)
        os.posix_fallocate(file, 0, SYNCS * SYNC_BYTES)
        os.fsync(file)
        times = [_sync_us(file, number) for number in range(SYNCS)]
        os.close(file)
    return sorted(times)


def _sync_us(file: int, number: int) -> float:
    os.pwrite(file, os.urandom(SYNC_BYTES), number * SYNC_BYTES)
    began = time.perf_counter()
    os.fdatasync(file)
    return (time.perf_counter() - began) * 1e6


def _rates(rounds: int, seconds: float) -> float:
    """Prints what each acknowledges as fast as it goes; gives ours on disk."""
    subjects: dict[str, Callable[[], Report]] = {
        OURS: lambda: _ours(seconds, "disk"),
        MEMORY: lambda: _ours(seconds, "memory"),
        THEIRS: lambda: _theirs(seconds),
        KEPT_NOT: lambda: _ours(seconds, "disk", expiry_s=0),
        MEMORY_NOT: lambda: _ours(seconds, "memory", expiry_s=0),
    }
    reports = alternate(subjects, rounds)
    rate = {name: median(own, lambda report: report["sent_per_s"]) for name, own in reports.items()}
    rows = []
    for name, own in reports.items():
        cpu_s = median(own, lambda report: report["cpu"]["broker_s"])
        answer_us = median(own, lambda report: report["answer_us"]["p99"])
        lost = max(report["lost"] for report in own)
        rows.append((name, rate[name], rate[name] / rate[THEIRS], cpu_s, answer_us, lost))
    print_table(
        f"{PAIRS} pairs, QoS 1, {PAYLOAD_BYTES} B, closed loop; medians of {rounds} alternating runs of {seconds:g} s",
        ("broker", "acknowledged/s", "ratio to mosquitto", "broker CPU s", "answer p99 us", "lost"),
        rows,
    )
    verdict("acknowledged per second with fdatasync", rate[OURS], 100_000)
    verdict("times Mosquitto at its strictest", rate[OURS] / rate[THEIRS], 20)
    paired = [
        memory["sent_per_s"] / disk["sent_per_s"]
        for memory, disk in zip(reports[MEMORY_NOT], reports[KEPT_NOT], strict=True)
    ]
    verdict("memory over disk where nobody is kept, paired", statistics.median(paired), 1.05, at_most=True)
    return rate[OURS]


def _latency(rounds: int, seconds: float, rate: float) -> None:
    """Prints latencies at ``rate`` messages/s, in times of what the disk takes."""
    syncs = fdatasync_us()
    reports = alternate({OURS: lambda: _ours(seconds, "disk", rate)}, rounds)[OURS]
    syncs = sorted([*syncs, *fdatasync_us()])
    disk_p50, disk_p99 = syncs[len(syncs) // 2], syncs[len(syncs) * 99 // 100]
    rows = [("fdatasync alone", disk_p50, disk_p99, 1.0)]
    p99_us = {}
    for what, figure in (("publish to PUBACK", "answer_us"), ("publish to arrival", "latency_us")):
        p50_us = median(reports, lambda report, figure=figure: report[figure]["p50"])
        p99_us[what] = median(reports, lambda report, figure=figure: report[figure]["p99"])
        rows.append((what, p50_us, p99_us[what], p99_us[what] / disk_p99))
    print_table(
        f"at {rate:,.0f} messages/s, QoS 1, on disk", ("what", "p50 us", "p99 us", "p99 in p99 of fdatasync"), rows
    )
    verdict("p99 of the acknowledgement over the disk's", p99_us["publish to PUBACK"] / disk_p99, 5, at_most=True)


def run(*, quick: bool) -> None:
    """Prints the tables and whether the targets are reached."""
    rounds, seconds = (1, 2.0) if quick else (5, 6.0)
    rate = _rates(rounds, seconds)
    _latency(rounds, seconds, rate / 2)
