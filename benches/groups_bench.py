"""What choosing costs: broker CPU per delivery of 100 consumer groups of 16 members, by strategy, beside round robin.

The broker has one core and the swarm the other. Members acknowledge at once, so nothing is learnt that would help: this
is the price, not the gain. The gain is `lapwing lab run dispatch`.
"""

from __future__ import annotations

from benches.brokers import lapwing, mosquitto
from benches.load import Report, alternate, median, swarm
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
GROUPS, MEMBERS = 100, 16
RATE_PER_S = 200_000
TARGET_RATIO = 1.15
BASE = "round-robin"


def _load(url: str, pid: int, qos: int, seconds: float) -> Report:
    return swarm(
        "shared",
        url,
        LOAD,
        seconds=seconds,
        publishers=GROUPS,
        groups=GROUPS,
        subscribers=GROUPS * MEMBERS,
        rate=RATE_PER_S,
        qos=qos,
        broker_pid=pid,
    )


def _strategy(name: str, qos: int, seconds: float) -> Report:
    """`acknowledges`: as if the members had declared it, or `auto` would not come to use LEF."""
    settings = [f"groups.swarm.strategy={name}", "groups.swarm.acknowledges=processed"]
    with lapwing(BROKER, settings=settings) as broker:
        return _load(broker.url, broker.pid, qos, seconds)


def _mosquitto(qos: int, seconds: float) -> Report:
    with mosquitto(BROKER) as broker:
        return _load(broker.url, broker.pid, qos, seconds)


def _cost_us(report: Report) -> float:
    return 1e6 / float(report["cpu"]["deliveries_per_broker_cpu_s"])


def run(*, quick: bool) -> None:
    """Prints the table and whether the target is reached."""
    rounds, seconds = (1, 3.0) if quick else (5, 5.0)
    rows, worst = [], 0.0
    for qos in (0, 1):
        names = [BASE, "auto", "c3", "least-inflight"] if qos else [BASE, "auto"]
        subjects = {name: lambda name=name, qos=qos: _strategy(name, qos, seconds) for name in names}
        subjects["mosquitto"] = lambda qos=qos: _mosquitto(qos, seconds)
        reports = alternate(subjects, rounds)
        base = median(reports[BASE], _cost_us)
        for name, own in reports.items():
            rate = median(own, lambda report: report["delivered_per_s"])
            cost = median(own, _cost_us)
            rows.append((qos, name, rate, cost, cost / base, max(report["lost"] for report in own)))
        worst = max(worst, median(reports["auto"], _cost_us) / base)
    print_table(
        f"{GROUPS} groups of {MEMBERS} members, {RATE_PER_S:,} messages/s offered; medians of {rounds} runs in turn",
        ("QoS", "strategy", "deliveries/s", "broker CPU us per delivery", "ratio to round robin", "lost"),
        rows,
    )
    verdict("broker CPU per delivery of auto against round robin, at most", worst, TARGET_RATIO, at_most=True)
