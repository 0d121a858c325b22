"""What durability costs: QoS 1 acknowledged after `fdatasync`, each publisher with one kept session behind it.

Beside it the same in memory, and Mosquitto with its strictest settings: it saves after each turn that changed
something, which is after it has acknowledged. The kept session is there, and then it is away: what waits grows.
Latency at half of the rate that is asked for is quoted in times of the disk's own `fdatasync`, and in memory, too: that
is what this machine adds where no disk is waited for. The disk is measured alone, in turn with the others and for as
long: one call behind the other, and what somebody waits who comes at any moment and whose write goes with the next
call. The second is what messages meet that come at a steady rate: a call of 100 ms in six seconds is one of twenty
thousand, and 1.7 % of the time.
"""

from __future__ import annotations

import bisect
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence

from benches.brokers import RunningBroker, lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.sleeper import fall_asleep
from benches.table import print_table, verdict

BROKER, LOAD = {0, 1}, {1}
PAIRS = 50
PAYLOAD_BYTES = 200
EXPIRY_S = 3600
SYNC_BYTES = 16 << 10
SYNC_FILE_BYTES = 64 << 20
ARRIVALS = 200_000
RATE_PER_S = 100_000
ROOMY = ("limits.queue_messages_max=20000000", "limits.queue_bytes_max=8GiB", "limits.memory_high_bytes=12GiB")

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


def _to_one_away(broker: RunningBroker, seconds: float) -> Report:
    fall_asleep(broker.url, "away", "away/#")
    return swarm(
        "devices",
        broker.url,
        LOAD,
        seconds=seconds,
        flags=("--no-spin",),
        publishers=PAIRS,
        payload=PAYLOAD_BYTES,
        qos=1,
        rate=0,
        window=200,
        prefix="away",
        broker_pid=broker.pid,
    )


def _ours_away(seconds: float, durability: str) -> Report:
    with lapwing(BROKER, settings=(*ROOMY, f"broker.durability={durability}")) as broker:
        return _to_one_away(broker, seconds)


def _theirs_away(seconds: float) -> Report:
    with mosquitto(BROKER, saves=True) as broker:
        return _to_one_away(broker, seconds)


def fdatasync_s(seconds: float) -> list[tuple[float, float]]:
    """Begin and end of calls of `fdatasync` after 16 KiB each, one behind the other for ``seconds``."""
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        file = os.open(f"{folder}/file", os.O_CREAT | os.O_RDWR)
        os.posix_fallocate(file, 0, SYNC_FILE_BYTES)
        os.fsync(file)
        block = os.urandom(SYNC_BYTES)
        calls, at, end_s = [], 0, time.perf_counter() + seconds
        while (began_s := time.perf_counter()) < end_s:
            os.pwrite(file, block, at)
            os.fdatasync(file)
            calls.append((began_s, time.perf_counter()))
            at = (at + SYNC_BYTES) % SYNC_FILE_BYTES
        os.close(file)
    return calls


def waits_us(calls: Sequence[tuple[float, float]]) -> list[float]:
    """What those wait, in microseconds and in order, who come at a steady rate and go with the next call.

    No group commit can do better on this disk.
    """
    first_s, last_s = calls[0][0], calls[-1][0]
    step_s = (last_s - first_s) / ARRIVALS
    begins = [began_s for began_s, _ in calls]
    arrivals = (first_s + step_s * number for number in range(ARRIVALS))
    return sorted((calls[bisect.bisect_left(begins, at_s)][1] - at_s) * 1e6 for at_s in arrivals)


def _p50_p99(ordered: Sequence[float]) -> tuple[float, float]:
    return ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]


def _rates(rounds: int, seconds: float) -> None:
    """Prints what each acknowledges as fast as it goes."""
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


def _away(rounds: int, seconds: float) -> None:
    """Prints what each acknowledges while the one who is to get it is away."""
    subjects: dict[str, Callable[[], Report]] = {
        OURS: lambda: _ours_away(seconds, "disk"),
        MEMORY: lambda: _ours_away(seconds, "memory"),
        THEIRS: lambda: _theirs_away(seconds),
    }
    reports = alternate(subjects, rounds)
    rate = {name: median(own, lambda report: report["acknowledged"] / seconds) for name, own in reports.items()}
    rows = [
        (name, rate[name], rate[name] / rate[THEIRS], median(own, lambda report: report["answer_us"]["p99"]))
        for name, own in reports.items()
    ]
    print_table(
        f"{PAIRS} publishers, QoS 1, {PAYLOAD_BYTES} B, for one session whose client is away; {rounds} runs in turn",
        ("broker", "acknowledged/s", "ratio to mosquitto", "answer p99 us"),
        rows,
    )
    verdict("times Mosquitto at its strictest, subscriber away", rate[OURS] / rate[THEIRS], 20)


def _latency(rounds: int, seconds: float, rate: float) -> None:
    """Prints latencies at ``rate`` messages/s, in times of what the disk takes."""
    calls: list[list[tuple[float, float]]] = []
    subjects: dict[str, Callable[[], Report]] = {
        OURS: lambda: _ours(seconds, "disk", rate),
        MEMORY: lambda: _ours(seconds, "memory", rate),
    }
    rounds_of = []
    for _ in range(rounds):
        calls.append(fdatasync_s(seconds))
        rounds_of.append({name: run() for name, run in subjects.items()})
    durations = [_p50_p99(sorted((end - began) * 1e6 for began, end in own)) for own in calls]
    waits = [_p50_p99(waits_us(own)) for own in calls]
    disk_p50, disk_p99 = (statistics.median(own) for own in zip(*durations, strict=True))
    wait_p50, wait_p99 = (statistics.median(own) for own in zip(*waits, strict=True))
    rows = [
        ("fdatasync alone, one behind the other", disk_p50, disk_p99, 1.0, disk_p99 / wait_p99),
        ("fdatasync alone, at any moment", wait_p50, wait_p99, wait_p99 / disk_p99, 1.0),
    ]
    p99_us = {}
    for name in subjects:
        own = [reports[name] for reports in rounds_of]
        for what, figure in (("publish to PUBACK", "answer_us"), ("publish to arrival", "latency_us")):
            p50_us = median(own, lambda report, figure=figure: report[figure]["p50"])
            p99 = p99_us[name, what] = median(own, lambda report, figure=figure: report[figure]["p99"])
            rows.append((f"{name}: {what}", p50_us, p99, p99 / disk_p99, p99 / wait_p99))
    print_table(
        f"at {rate:,.0f} messages/s, QoS 1; medians of {rounds} runs in turn",
        ("what", "p50 us", "p99 us", "in p99 one behind the other", "in p99 at any moment"),
        rows,
    )
    answer_us = p99_us[OURS, "publish to PUBACK"]
    verdict("p99 of the acknowledgement over the disk's, one behind the other", answer_us / disk_p99, 5, at_most=True)
    verdict("p99 of the acknowledgement over the disk's, at any moment", answer_us / wait_p99, 5, at_most=True)


def run(*, quick: bool) -> None:
    """Prints the tables and whether the targets are reached."""
    rounds, seconds = (1, 2.0) if quick else (5, 6.0)
    _rates(rounds, seconds)
    _away(rounds, seconds)
    _latency(rounds, seconds, RATE_PER_S / 2)
