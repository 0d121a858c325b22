"""Point to point at QoS 0: deliveries per second and per CPU second of the broker, by number of pairs.

The broker has one core and the swarm the other, which sends as fast as the sockets take it; Mosquitto stands
beside it, in turn. With two shards broker and swarm share both cores, so the rate is the machine's, and the
CPU second is the figure to compare.
"""

from __future__ import annotations

from benches.brokers import lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
BOTH = BROKER | LOAD
TARGET_PER_CPU_S = 400_000


def _one_shard(pairs: int, seconds: float) -> Report:
    with lapwing(BROKER) as broker:
        return swarm("p2p", broker.url, LOAD, seconds=seconds, publishers=pairs, rate=0, broker_pid=broker.pid)


def _two_shards(pairs: int, seconds: float) -> Report:
    with lapwing(BOTH, shards=2) as broker:
        return swarm("p2p", broker.url, BOTH, seconds=seconds, publishers=pairs, rate=0, broker_pid=broker.pid)


def _mosquitto(pairs: int, seconds: float) -> Report:
    with mosquitto(BROKER) as broker:
        return swarm("p2p", broker.url, LOAD, seconds=seconds, publishers=pairs, rate=0, broker_pid=broker.pid)


def run(*, quick: bool) -> None:
    """Prints the table and whether the target is reached."""
    rounds, seconds = (1, 2.0) if quick else (3, 5.0)
    rows, best = [], 0.0
    for pairs in (1, 10, 100, 1000):
        subjects = {
            "lapwing, 1 shard": lambda pairs=pairs: _one_shard(pairs, seconds),
            "lapwing, 2 shards": lambda pairs=pairs: _two_shards(pairs, seconds),
            "mosquitto": lambda pairs=pairs: _mosquitto(pairs, seconds),
        }
        reports = alternate(subjects, rounds)
        per_cpu = {
            n: median(r, lambda report: report["cpu"]["deliveries_per_broker_cpu_s"]) for n, r in reports.items()
        }
        for name, own in reports.items():
            rate = median(own, lambda report: report["delivered_per_s"])
            lost = max(report["lost"] for report in own)
            rows.append((pairs, name, rate, per_cpu[name], per_cpu[name] / per_cpu["mosquitto"], lost))
        best = max(best, per_cpu["lapwing, 1 shard"])
    print_table(
        f"point to point, QoS 0, 64 B, closed loop; medians of {rounds} alternating runs of {seconds:.0f} s",
        ("pairs", "broker", "deliveries/s", "per broker CPU s", "ratio to mosquitto", "lost"),
        rows,
    )
    verdict("deliveries per broker CPU second, one shard, best of the pairs", best, TARGET_PER_CPU_S)
