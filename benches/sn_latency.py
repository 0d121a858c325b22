"""Latency end to end at one total rate, by number of clients: MQTT-SN, TCP, and TCP with Mosquitto, taking turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from benches.brokers import RunningBroker, lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.sn_brokers import lapwing_sn
from benches.sn_sizes import Sizes
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
RATE_PER_S = 2_500
"""Twenty-five publishers, each every 10 ms."""
MEAN_MS_MAX, P99_MS_MAX, RATIO_MAX = 0.3, 2.0, 1.3
SUBJECTS: dict[str, Callable[[], AbstractContextManager[RunningBroker]]] = {
    "lapwing, MQTT-SN": lambda: lapwing_sn(BROKER),
    "lapwing, TCP": lambda: lapwing(BROKER),
    "mosquitto, TCP": lambda: mosquitto(BROKER),
}
OURS = "lapwing, MQTT-SN"


@dataclass(frozen=True)
class Point:
    """What one subject did with so many clients; medians of its rounds."""

    subject: str
    clients: int
    mean_ms: float
    p50_ms: float
    p99_ms: float
    lost: int
    late_p99_ms: float
    """How late the load itself was."""


def measure(sizes: Sizes) -> list[Point]:
    """Prints the table and whether the figures are reached; gives the points for the picture."""
    points = [point for pairs in sizes.pairs for point in _at(pairs, sizes)]
    print_table(
        f"latency end to end at {RATE_PER_S:,} messages/s in all, QoS 0, 64 B; medians of {sizes.rounds} alternating "
        f"runs of {sizes.seconds:g} s",
        ("clients", "who", "mean ms", "p50 ms", "p99 ms", "lost", "load late, p99 ms"),
        [(p.clients, p.subject, p.mean_ms, p.p50_ms, p.p99_ms, p.lost, p.late_p99_ms) for p in points],
    )
    _judge(points)
    return points


def _at(pairs: int, sizes: Sizes) -> list[Point]:
    def subject(start: Callable[[], AbstractContextManager[RunningBroker]]) -> Callable[[], Report]:
        def run() -> Report:
            with start() as broker:
                return swarm("p2p", broker.url, LOAD, seconds=sizes.seconds, publishers=pairs, rate=RATE_PER_S)

        return run

    reports = alternate({name: subject(start) for name, start in SUBJECTS.items()}, sizes.rounds)
    return [_point(name, 2 * pairs, own) for name, own in reports.items()]


def _point(subject: str, clients: int, reports: Sequence[Report]) -> Point:
    def ms(figure: Callable[[Report], Any]) -> float:
        return median(reports, figure) / 1000

    return Point(
        subject,
        clients,
        mean_ms=ms(lambda report: report["latency_us"]["mean"]),
        p50_ms=ms(lambda report: report["latency_us"]["p50"]),
        p99_ms=ms(lambda report: report["latency_us"]["p99"]),
        lost=sum(report["lost"] for report in reports),
        late_p99_ms=ms(lambda report: report["schedule"]["late_us"]["p99"]),
    )


def _judge(points: Sequence[Point]) -> None:
    own = [point for point in points if point.subject == OURS]
    few, many = own[0], own[-1]
    verdict(f"{few.clients} clients of MQTT-SN, mean ms", few.mean_ms, MEAN_MS_MAX, at_most=True)
    verdict(f"{few.clients} clients of MQTT-SN, p99 ms", few.p99_ms, P99_MS_MAX, at_most=True)
    if few is not many:
        times = many.mean_ms / few.mean_ms
        verdict(f"mean of {many.clients:,} clients, times that of {few.clients}", times, RATIO_MAX, at_most=True)
