"""Devices that sleep: with everything there is waiting for all of them, they awake one after the other."""

from __future__ import annotations

from benches.load import swarm
from benches.resident import resident_mib
from benches.sn_brokers import lapwing_sn
from benches.sn_sizes import Sizes
from benches.table import print_table, verdict

BROKER, LOAD = {0}, {1}
_FILL = 0.8
"""Of the first sleep, the part in which is published."""


def measure(sizes: Sizes) -> None:
    """Prints the table, and whether all got everything, once."""
    fill_s = _FILL * sizes.sleep_s
    with lapwing_sn(BROKER) as broker:
        report = swarm(
            "fan-out",
            broker.url,
            LOAD,
            seconds=fill_s,
            flags=("--no-spin",),
            publishers=1,
            subscribers=sizes.sleepers,
            # Whole messages: the schedule rounds.
            rate=sizes.messages / fill_s,
            qos=2,
            sleep=sizes.sleep_s,
            broker_pid=broker.pid,
        )
        memory_mib = resident_mib(broker.pid)
    slept, drain = report["sleep"], report["sleep"]["drain_us"]
    rows = [
        ("expected", report["expected"]),
        ("delivered", report["delivered"]),
        ("lost", report["lost"]),
        ("twice", report["duplicates"]),
        ("connections lost and the like", sum(report["errors"].values())),
        ("times one awoke", slept["wakes"]),
        ("of these not drained", slept["wakes"] - slept["drained"]),
        ("PINGREQ to PINGRESP, p50 ms", drain["p50"] / 1000),
        ("PINGREQ to PINGRESP, p99 ms", drain["p99"] / 1000),
        ("PINGREQ to PINGRESP, longest ms", drain["max"] / 1000),
        ("from the first that awoke to the last that had all, s", slept["all_drained_s"]),
        ("CPU seconds of the broker", report["cpu"]["broker_s"]),
        ("resident memory of the broker at the end, MiB", memory_mib),
    ]
    print_table(
        f"{sizes.sleepers:,} devices sleep, {sizes.messages} messages for each at QoS 2, all awake within "
        f"{sizes.sleep_s:g} s",
        ("what", "figure"),
        rows,
    )
    verdict("messages lost", report["lost"], 0, at_most=True)
    verdict("messages that came twice", report["duplicates"], 0, at_most=True)
    verdict("times awake and not drained", slept["wakes"] - slept["drained"], 0, at_most=True)
