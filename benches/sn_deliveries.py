"""What one socket of MQTT-SN delivers per CPU second of the broker, as fast as it goes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

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
        lost, overflowed = (median(reports, partial(_percent, of=of)) for of in ("lost", "overflowed"))
        rows.append((name, figure, per_s, lost, overflowed))
        best = max(best, figure)
    print_table(
        f"QoS 0 as fast as it goes, 64 B, one socket of the broker; medians of {sizes.rounds} runs of "
        f"{sizes.seconds:g} s",
        ("load", "deliveries per broker CPU second", "deliveries/s", "lost, %", "dropped at full sockets, %"),
        rows,
    )
    verdict("MQTT-SN deliveries per broker CPU second, best load", best, DELIVERIES_MIN)


def _run(name: str, load: dict[str, int], sizes: Sizes) -> Report:
    pattern = "fan-out" if name.startswith("1 to") else "p2p"
    with lapwing_sn(BROKER) as broker:
        # What is still on its way arrives within this.
        options: dict[str, Any] = {"rate": 0, "drain": 1, "broker_pid": broker.pid, **load}
        before = _overflowed_datagrams()
        report = swarm(pattern, broker.url, LOAD, seconds=sizes.seconds, **options)
        return {**report, "overflowed": _overflowed_datagrams() - before}


def _percent(report: Report, of: str) -> float:
    return float(100 * report[of] / max(report["expected"], 1))


def _overflowed_datagrams() -> int:
    """Datagrams that the kernel had no room for at their receivers, since the machine started."""
    names, values = (line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line[:4] == "Udp:")
    return int(values[names.index("RcvbufErrors")])
