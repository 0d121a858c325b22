"""``lapwing lab doctor``: what the lab needs, what is missing, how to get it."""

from __future__ import annotations

from typing import Annotated

import typer

from lapwing.cli.common import echo_json, examples, table
from lapwing.errors import ConfigError

EPILOG = examples("lapwing lab doctor", "lapwing lab doctor --architecture a1 --json")


def doctor(
    architecture: Annotated[
        list[str] | None,
        typer.Option("--architecture", metavar="NAME", help="Look at what this one needs; repeatable; default: all."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per need.")] = False,
) -> int:
    """Say what the lab needs on this machine, what of it is missing, and how to get it.

    Exit code 1 when something is missing; what is weak (files, cores, memory) only bounds what can be measured.
    """
    from lapwing.lab.doctor import NEEDS, gathered, judged

    names = architecture or list(NEEDS)
    unknown = [name for name in names if name not in NEEDS]
    if unknown:
        what = f"no architecture is called {unknown[0]!r}"
        raise ConfigError(what, where="--architecture", remedy=f"there is {', '.join(NEEDS)}")
    findings = judged(gathered(), names)
    if json:
        for finding in findings:
            echo_json(finding.to_json())
    else:
        rows = [(one.need, one.state, one.found, one.remedy, ", ".join(one.needed_by)) for one in findings]
        typer.echo(table(rows, ("NEED", "STATE", "FOUND", "REMEDY", "FOR")))
    return 1 if any(one.state == "missing" for one in findings) else 0
