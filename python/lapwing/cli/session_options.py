"""What ``lapwing sessions`` and ``lapwing queues`` share: options, the command that is implied, the question first."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lapwing.errors import BanError, ConfigError, SessionError
from lapwing.text import shell_word

# typer keeps click inside and exports only this class of it; its base is click's UsageError.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


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
        """Puts the command where none is named.

        Raises:
            ConfigError: words that this command does not take; somebody means another one.
        """
        if args and (args[0] in self.commands or args[0] in ctx.help_option_names):
            return super().parse_args(ctx, args)
        implied = "show" if args and not args[0].startswith("-") else "list"
        if beyond := _words_beyond(self.commands[implied], ctx, implied, args):
            raise self._misunderstood(ctx.command_path, implied, args[0], beyond[0])
        return super().parse_args(ctx, [implied, *args])

    def _misunderstood(self, path: str, implied: str, first: str, beyond: str) -> ConfigError:
        if implied == "list":
            remedy = f"write {path} show {shell_word(beyond)}, and the options behind it"
            return ConfigError(f"{beyond!r} stands behind options, and {path} means list there", remedy=remedy)
        near = get_close_matches(first, self.commands, n=1)
        remedy = f"did you mean {path} {near[0]}?" if near else f"write {path} show CLIENT once for each"
        return ConfigError(f"{first!r} is no command of {path}, and as a client it is not the only one", remedy=remedy)


def _words_beyond(command: Any, ctx: Any, name: str, args: list[str]) -> list[str]:
    """What ``command`` would have no use for; what is wrong with its options, it says itself."""
    try:
        parser = command.make_parser(command.context_class(command, info_name=name, parent=ctx))
        words: list[str] = parser.parse_args(args=[*args])[1]
    except _UsageError:
        return []
    return words


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


def for_each(whom: Iterable[str], order: Callable[[str], None]) -> None:
    """Carries an order out for each; what cannot be for one of them is said, and the others are gone on with.

    Raises:
        typer.Exit: it could not be for some.
        LapwingError: nobody answers, or the caller may not: it would be so for the others, too.
    """
    from lapwing.cli.app import print_error

    has_failed = False
    for each in whom:
        try:
            order(each)
        except (SessionError, BanError) as error:
            print_error(error)
            has_failed = True
    if has_failed:
        raise typer.Exit(1)
