"""The edge: MQTT-SN (latency beside TCP and Mosquitto, deliveries per CPU second, devices that sleep, memory of idle
ones), and `lapwingd` beside the package.

``make bench BENCH=sn`` takes the sizes of the figures to reach (half an hour), with ``--quick`` short ones;
``python -m benches.sn_bench --help`` has them as options.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from benches import machine, sn_deliveries, sn_executable, sn_idle, sn_latency, sn_sleepers
from benches.sn_sizes import QUICK, Sizes

PICTURE = Path("out/sn/latency.png")
PARTS = ("latency", "deliveries", "sleepers", "idle", "lapwingd")


def run(*, quick: bool) -> None:
    """All of it, in the sizes of the figures to reach, or short."""
    measure(QUICK if quick else Sizes(), PARTS, PICTURE)


def measure(sizes: Sizes, parts: Sequence[str], picture: Path) -> None:
    """Prints the tables of ``parts``; with the latencies goes their picture."""
    sizes.check()
    if "latency" in parts:
        from benches.sn_picture import draw

        points = sn_latency.measure(sizes)
        print(f"  picture: {draw(points, machine.describe(), picture)}")
    if "deliveries" in parts:
        sn_deliveries.measure(sizes)
    if "sleepers" in parts:
        sn_sleepers.measure(sizes)
    if "idle" in parts:
        sn_idle.measure(sizes)
    if "lapwingd" in parts:
        sn_executable.measure(sizes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: each size is an option."""
    parser = argparse.ArgumentParser(prog="python -m benches.sn_bench", description="The edge, in sizes of one's own.")
    whole = Sizes()
    for size in fields(Sizes):
        default = getattr(whole, size.name)
        flag, several = f"--{size.name.replace('_', '-')}", isinstance(default, tuple)
        kind = int if several else type(default)
        parser.add_argument(
            flag, type=kind, default=default, nargs="+" if several else None, help=f"default: {default}"
        )
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="these parts and no others")
    parser.add_argument("--picture", type=Path, default=PICTURE, help=f"where it goes; default: {PICTURE}")
    given = vars(parser.parse_args(arguments))
    parts, picture = given.pop("only"), given.pop("picture")
    print(machine.describe())
    measure(Sizes(**{**given, "pairs": tuple(given["pairs"])}), parts, picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
