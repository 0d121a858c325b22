"""Runs the benchmarks by name. See the package's docstring."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time

import benches
from benches import machine


def names() -> list[str]:
    """The benchmarks there are: modules of this package whose name ends in `_bench`."""
    found = (module.name for module in pkgutil.iter_modules(benches.__path__))
    return sorted(name.removesuffix("_bench") for name in found if name.endswith("_bench"))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=benches.__doc__)
    parser.add_argument("name", nargs="*", help=f"of: {', '.join(names())}")
    parser.add_argument("--quick", action="store_true", help="short runs: shapes, not figures")
    parser.add_argument("--list", action="store_true", help="names and nothing else")
    options = parser.parse_args()
    unknown = set(options.name) - set(names())
    if unknown:
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}: there are {', '.join(names())}")
    if options.list:
        print("\n".join(names()))
        return 0
    print(machine.describe())
    for name in options.name or names():
        started = time.monotonic()
        print(f"\n== {name}", flush=True)
        importlib.import_module(f"benches.{name}_bench").run(quick=options.quick)
        print(f"   ({time.monotonic() - started:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
