"""Latency from due time to arrival by number of clients, at a rate that loads no broker; Mosquitto too."""

from __future__ import annotations

from collections.abc import Callable

from benches.brokers import RunningBroker, lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.table import print_table

BROKER, LOAD = {0}, {1}
RATE_PER_S = 5_000


def _measure(broker: RunningBroker, pairs: int, qos: int, seconds: float) -> Report:
    return swarm("p2p", broker.url, LOAD, seconds=seconds, publishers=pairs, rate=RATE_PER_S, qos=qos)


def _subjects(pairs: int, qos: int, seconds: float) -> dict[str, Callable[[], Report]]:
    def ours() -> Report:
        with lapwing(BROKER) as broker:
            return _measure(broker, pairs, qos, seconds)

    def theirs() -> Report:
        with mosquitto(BROKER) as broker:
            return _measure(broker, pairs, qos, seconds)

    return {"lapwing": ours, "mosquitto": theirs}


def run(*, quick: bool) -> None:
    """Prints one table per QoS."""
    rounds, seconds = (1, 2.0) if quick else (3, 6.0)
    for qos in (0, 1):
        rows = []
        for pairs in (1, 100) if quick else (1, 100, 1000, 4000):
            reports = alternate(_subjects(pairs, qos, seconds), rounds)
            p99 = {name: median(own, lambda report: report["latency_us"]["p99"]) for name, own in reports.items()}
            for name, own in reports.items():
                p50 = median(own, lambda report: report["latency_us"]["p50"])
                lost = max(report["lost"] for report in own)
                rows.append((2 * pairs, name, p50, p99[name], p99[name] / p99["mosquitto"], lost))
        print_table(
            f"latency at {RATE_PER_S:,} messages/s, QoS {qos}, 64 B; "
            f"medians of {rounds} alternating runs of {seconds:.0f} s",
            ("clients", "broker", "p50 us", "p99 us", "p99 ratio to mosquitto", "lost"),
            rows,
        )
