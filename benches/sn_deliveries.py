"""What one socket of MQTT-SN delivers per CPU second of the broker, as fast as it goes."""

from __future__ import annotations

from benches.load import Report, median, swarm
from benches.sn_brokers import lapwing_sn
from benches.sn_sizes import Sizes
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
DELIVERIES_MIN = 300_000
_WINDOW = 20
"""Messages of a publisher that have not arrived: fewer than wait for one device, or one address may send in a turn."""
_LOADS: dict[str, dict[str, int]] = {
    "pairs, 10": {"publishers": 10, "window": _WINDOW},
    "pairs, 100": {"publishers": 100, "window": 2},
    "1 to 100": {"publishers": 1, "subscribers": 100, "window": _WINDOW},
}


def measure(sizes: Sizes) -> None:
    """Prints the table and whether the figure is reached."""
    rows, best = [], 0.0
    for name, load in _LOADS.items():
        reports = [_run(name, load, sizes) for _ in range(sizes.rounds)]
        figure = median(reports, lambda report: report["cpu"]["deliveries_per_broker_cpu_s"])
        per_s = median(reports, lambda report: report["delivered_per_s"])
        lost = median(reports, lambda report: 100 * report["lost"] / max(report["expected"], 1))
        rows.append((name, figure, per_s, lost))
        best = max(best, figure)
    print_table(
        f"QoS 0 as fast as it goes, 64 B, one socket of the broker; medians of {sizes.rounds} runs of "
        f"{sizes.seconds:g} s",
        ("load", "deliveries per broker CPU second", "deliveries/s", "lost, %"),
        rows,
    )
    verdict("MQTT-SN deliveries per broker CPU second, best load", best, DELIVERIES_MIN)


def _run(name: str, load: dict[str, int], sizes: Sizes) -> Report:
    pattern = "fan-out" if name.startswith("1 to") else "p2p"
    with lapwing_sn(BROKER) as broker:
        # What UDP has lost is given up soon, so that the loop goes on.
        options = {"rate": 0, "drain": 1, "broker_pid": broker.pid, **load}
        return swarm(pattern, broker.url, LOAD, seconds=sizes.seconds, **options)
