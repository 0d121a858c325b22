"""What ``lapwing sessions`` and ``lapwing queues`` share: options, the command that is implied, the question first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup


class State(StrEnum):
    """Whether a session has a connection."""

    CONNECTED = "connected"
    AWAY = "away"


class Measure(StrEnum):
    """By what a queue is long."""

    MESSAGES = "messages"
    BYTES = "bytes"


class ListByDefault(TyperGroup):
    """Without a command: list. ``lapwing sessions CLIENT`` is show; a client named as a command needs the ``show``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the command where none is named."""
        if args and (args[0] in self.commands or args[0] in ctx.help_option_names):
            return super().parse_args(ctx, args)
        implied = "show" if args and not args[0].startswith("-") else "list"
        return super().parse_args(ctx, [implied, *args])


ClientId = Annotated[str, typer.Argument(metavar="CLIENT", help="Client id.")]
ClientIds = Annotated[list[str], typer.Argument(metavar="CLIENT...", help="Client ids.")]
Prefix = Annotated[str, typer.Option("--prefix", "-p", metavar="TEXT", help="Client ids that begin so.")]
OnlyState = Annotated[State | None, typer.Option("--state", "-s", help="Only those with a connection, or without one.")]
Head = Annotated[
    int, typer.Option("--head", metavar="N", min=0, max=100, help="Messages shown, those that have waited longest.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=10_000, help="So many at most.")]
After = Annotated[
    str | None,
    typer.Option("--after", metavar="CLIENT", help="Go on behind this client id, as a list says at its end."),
]
All = Annotated[bool, typer.Option("--all", "-a", help="Page after page, until there is no more.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def confirm(what: str, client_ids: Sequence[str], *, yes: bool) -> None:
    """Asks at a terminal whether that is meant; a script is not asked.

    Raises:
        typer.Exit: it is not.
    """
    if yes or not sys.stdin.isatty():
        return
    whose = client_ids[0] if len(client_ids) == 1 else f"{len(client_ids)} clients"
    if not typer.confirm(f"{what} {whose}?", err=True):
        typer.echo("nothing was changed", err=True)
        raise typer.Exit(1)
