"""What several commands share: examples in help, the options of a configuration, output as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.standard_streams import takes_all
from lapwing.log.standard_error import StandardError
from lapwing.text import json_text, one_line

_standard_error = StandardError()


def examples(*lines: str) -> str:
    """Text for ``epilog``: one example a line, kept as written."""
    return "Examples:\n\n" + "\n\n".join(f"  {line}" for line in lines)


def echo_json(document: object) -> None:
    """One object, one line, at once: readers of a pipe see it when it happens.

    On a terminal only ASCII: its font may not have the rest; and where the encoding has not.
    """
    typer.echo(json_text(document, ascii_only=sys.stdout.isatty() or not takes_all(sys.stdout)))


def say(text: str) -> None:
    """Lines beside the output, on standard error; each is escaped."""
    _standard_error.write("\n".join(map(one_line, text.split("\n"))))


def notice(text: str) -> None:
    """Something that the reader should know, on one line of standard error."""
    _standard_error.write(f"notice: {one_line(text)}")


def table(rows: Iterable[Iterable[object]], head: Iterable[str]) -> str:
    """Columns aligned with spaces: easy to read, and easy for ``awk``; names of others are on one line."""
    cells = [[one_line(str(cell)) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
    return "\n".join(lines)


ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", envvar="LAPWING_CONFIG", help="Configuration, TOML."),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="KEY=VALUE", help="Set one key, as broker.shards=2; above file and environment."),
]
