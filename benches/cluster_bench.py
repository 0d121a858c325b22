"""What copies on other nodes cost: a node on its own, a cluster of one, and one of three on the same cores and disk.

QoS 1 with one kept session behind each publisher: acknowledged when more than half of the nodes have it on disk. All
nodes, and the load, share this machine; on machines of their own standbys take nothing from the one that serves, and
the network adds its way there and back.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.crash.power import compile_library

from benches.brokers import RunningBroker, lapwing
from benches.load import Report, alternate, median, swarm
from benches.members import members
from benches.table import print_table, verdict

CORES = set(range(os.cpu_count() or 1))
PAIRS, PAYLOAD_BYTES, WINDOW, EXPIRY_S = 50, 200, 200, 3600
STEADY_PER_S = 5_000
SLOW_MS = 500
DISK_FAULTS = Path(__file__).parent.parent / "tests" / "faults" / "disk_faults.c"
ALONE, ONE, THREE = "on its own", "cluster of one", "cluster of three"


def _pairs(broker: RunningBroker, seconds: float, rate: float) -> Report:
    return swarm(
        "p2p",
        broker.url,
        CORES,
        seconds=seconds,
        flags=("--no-spin",),
        publishers=PAIRS,
        payload=PAYLOAD_BYTES,
        qos=1,
        rate=rate,
        window=WINDOW,
        session_expiry=EXPIRY_S,
        broker_pid=broker.pid,
    )


def _alone(seconds: float, rate: float) -> Report:
    with lapwing(CORES) as broker:
        return {**_pairs(broker, seconds, rate), "standby_s": None}


def _clustered(count: int, seconds: float, rate: float) -> Report:
    with members(count, CORES) as cluster:
        began_s = cluster.cpu_s()
        report = _pairs(cluster.active, seconds, rate)
        active_s, standby_s = (end - began for end, began in zip(cluster.cpu_s(), began_s, strict=True))
        return {**report, "standby_s": standby_s if count > 1 else None, "active_s": active_s}


def _measured(rounds: int, seconds: float, rate: float) -> dict[str, list[Report]]:
    subjects: dict[str, Callable[[], Report]] = {
        ALONE: lambda: _alone(seconds, rate),
        ONE: lambda: _clustered(1, seconds, rate),
        THREE: lambda: _clustered(3, seconds, rate),
    }
    return alternate(subjects, rounds)


def _standby_s(reports: list[Report]) -> float | None:
    return None if reports[0]["standby_s"] is None else median(reports, lambda report: report["standby_s"])


def _rates(rounds: int, seconds: float) -> None:
    """Prints what each acknowledges as fast as it goes."""
    reports = _measured(rounds, seconds, 0)
    rate = {name: median(own, lambda report: report["sent_per_s"]) for name, own in reports.items()}
    rows = [
        (
            name,
            rate[name],
            rate[name] / rate[ALONE],
            median(own, lambda report: report["cpu"]["broker_s"]),
            _standby_s(own),
            median(own, lambda report: report["answer_us"]["p99"]),
            max(report["lost"] for report in own),
        )
        for name, own in reports.items()
    ]
    print_table(
        f"{PAIRS} pairs, QoS 1, {PAYLOAD_BYTES} B, closed loop; medians of {rounds} alternating runs of {seconds:g} s",
        ("nodes", "acknowledged/s", "ratio to one alone", "CPU s", "CPU s of a standby", "answer p99 us", "lost"),
        rows,
    )
    verdict("a cluster of one over a node on its own", rate[ONE] / rate[ALONE], 0.95)
    verdict("acknowledged per second by three nodes", rate[THREE], 60_000)
    active_s = median(reports[THREE], lambda report: report["active_s"])
    verdict("CPU of a standby over that of who serves", (_standby_s(reports[THREE]) or 0) / active_s, 0.6, at_most=True)


def _latency(rounds: int, seconds: float) -> None:
    """Prints what an acknowledgement takes at a rate that loads nobody."""
    reports = _measured(rounds, seconds, STEADY_PER_S)
    p50_us, p99_us = (
        {name: median(own, lambda report, p=p: report["answer_us"][p]) for name, own in reports.items()}
        for p in ("p50", "p99")
    )
    rows = [
        (name, p50_us[name], p50_us[name] / p50_us[ALONE], p99_us[name], p99_us[name] / p99_us[ALONE])
        for name in reports
    ]
    print_table(
        f"publish to PUBACK at {STEADY_PER_S:,} messages/s; medians of {rounds} alternating runs of {seconds:g} s",
        ("nodes", "p50 us", "ratio", "p99 us", "ratio"),
        rows,
    )
    verdict("p50 of three nodes over one's", p50_us[THREE] / p50_us[ALONE], 3, at_most=True)
    verdict("p99 of three nodes over one's", p99_us[THREE] / p99_us[ALONE], 4, at_most=True)


def _slow_disk(rounds: int, seconds: float) -> None:
    """Prints what an acknowledgement takes while each sync of who serves takes long, and the others' do not."""
    with tempfile.TemporaryDirectory(prefix="lapwing-slow-") as home:
        faults = Path(home, "faults")
        faults.mkdir()
        library = compile_library(Path(home), DISK_FAULTS)
        environment = {"LD_PRELOAD": str(library), "LAPWING_FAULTS": str(faults)}
        with members(3, CORES, environment=environment) as cluster:
            (faults / "slow").write_text(str(SLOW_MS))
            reports = [_pairs(cluster.active, seconds, STEADY_PER_S) for _ in range(rounds)]
    rows = [(report["answer_us"]["p50"], report["answer_us"]["p99"], report["lost"]) for report in reports]
    print_table(
        f"publish to PUBACK at {STEADY_PER_S:,} messages/s, each sync of who serves {SLOW_MS} ms longer",
        ("p50 us", "p99 us", "lost"),
        rows,
    )
    p99_us = median(reports, lambda report: report["answer_us"]["p99"])
    verdict("p99 in ms while the disk of who serves is slow", p99_us / 1000, 50, at_most=True)


def run(*, quick: bool) -> None:
    """Prints the tables and whether the targets are reached."""
    rounds, seconds = (1, 2.0) if quick else (5, 6.0)
    _rates(rounds, seconds)
    _latency(rounds, seconds)
    _slow_disk(rounds, seconds)
