"""`python -m tests.crash --rounds 200 --seed 1`: see the package's docstring."""

from __future__ import annotations

import argparse
import sys
from functools import partial

import tests.crash as package

from .command import Command, folder_of
from .one_round import one_round
from .power import compile_library


def main() -> int:
    """Command line; 1 when anything was not as promised."""
    command = Command("tests.crash", package.__doc__, rounds=200, jobs=2)
    command.parser.add_argument("--power-cut", action="store_true", help="most crashes lose what was not synced")
    command.parser.add_argument(
        "--groups", action=argparse.BooleanOptionalAction, default=True, help="with a durable group"
    )
    options = command.parser.parse_args()
    library = compile_library(folder_of(options)) if options.power_cut else None
    return command.run(options, partial(one_round, library=library, groups=options.groups))


if __name__ == "__main__":
    sys.exit(main())
