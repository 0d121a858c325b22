"""`python -m tests.cluster_crash --rounds 100 --seed 1`: see the package's docstring."""

from __future__ import annotations

import sys
from functools import partial

import tests.cluster_crash as package
from tests.crash.command import Command, folder_of
from tests.crash.power import compile_library

from .network import why_not
from .one_round import one_round


def main() -> int:
    """Command line; 1 when anything was not as promised."""
    command = Command("tests.cluster_crash", package.__doc__, rounds=100, jobs=1)
    options = command.parser.parse_args()
    if reason := why_not():
        print(f"no network is split: {reason}", file=sys.stderr)
    library = compile_library(folder_of(options))
    return command.run(options, partial(one_round, library=library, has_network=reason is None))


if __name__ == "__main__":
    sys.exit(main())
