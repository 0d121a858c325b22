"""`lapwingd` beside the package: point to point at QoS 0, which is the same node room on either way of starting it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benches.brokers import find_lapwingd, lapwing, lapwingd
from benches.load import Report, alternate, median, swarm
from benches.sn_sizes import Sizes
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
RATIO_MIN = 1.0
_PAIRS = (1, 10, 100)


def measure(sizes: Sizes) -> None:
    """Prints the table and whether the executable is no slower; without one, how to build it."""
    if find_lapwingd() is None:
        print("\nlapwingd beside the package: left out, there is no target/edge/lapwingd (make lapwingd)")
        return
    rows, ratios = [], []
    for pairs in _PAIRS:
        subjects: dict[str, Callable[[], Report]] = {
            "lapwing broker": partial(_package, pairs, sizes),
            "lapwingd": partial(_executable, pairs, sizes),
        }
        reports = alternate(subjects, sizes.rounds)
        per_cpu_s = {name: _per_cpu_s(own) for name, own in reports.items()}
        for name, own in reports.items():
            rate = median(own, lambda report: report["delivered_per_s"])
            ratio = per_cpu_s[name] / per_cpu_s["lapwing broker"]
            rows.append((pairs, name, rate, per_cpu_s[name], ratio, max(report["lost"] for report in own)))
        ratios.append(per_cpu_s["lapwingd"] / per_cpu_s["lapwing broker"])
    print_table(
        f"point to point over TCP, QoS 0, 64 B, closed loop, one shard, no HTTP; medians of {sizes.rounds} alternating "
        f"runs of {sizes.seconds:g} s",
        ("pairs", "broker", "deliveries/s", "per broker CPU s", "ratio to the package", "lost"),
        rows,
    )
    verdict("deliveries per CPU second of lapwingd, times the package's, worst of the pairs", min(ratios), RATIO_MIN)


def _per_cpu_s(reports: list[Report]) -> float:
    return median(reports, lambda report: report["cpu"]["deliveries_per_broker_cpu_s"])


def _package(pairs: int, sizes: Sizes) -> Report:
    with lapwing(BROKER, arguments=("--http", "off")) as broker:
        return _run(pairs, sizes, broker.url, broker.pid)


def _executable(pairs: int, sizes: Sizes) -> Report:
    with lapwingd(BROKER, arguments=("--http", "off")) as broker:
        return _run(pairs, sizes, broker.url, broker.pid)


def _run(pairs: int, sizes: Sizes, url: str, pid: int) -> Report:
    return swarm("p2p", url, LOAD, seconds=sizes.seconds, publishers=pairs, rate=0, broker_pid=pid)
