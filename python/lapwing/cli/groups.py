"""``lapwing groups [NAME]`` and ``groups add|set|remove``: a broker's consumer groups from the outside, over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from lapwing.cli.again import Again, watched
from lapwing.cli.common import echo_json, examples
from lapwing.cli.group_api import GroupApi, GroupChangedError, GroupUnknownError
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.errors import GroupError

_WATCH_INTERVAL_S = 1.0


class _ShowByDefault(TyperGroup):
    """``lapwing groups alarms`` is ``lapwing groups show alarms``; a group named ``add`` needs the ``show``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts ``show`` where no command is named."""
        is_named = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_named else ["show", *args])


app = typer.Typer(
    cls=_ShowByDefault,
    help="See consumer groups and their members; declare and change them while the broker runs.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command: show. lapwing groups NAME is lapwing groups show NAME.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Share name, or a pattern with * for several.")]
Assignments = Annotated[
    list[str],
    typer.Argument(metavar="KEY=VALUE...", help="As in a file; KEY= takes a key back to its default."),
]


@app.command(
    epilog=examples(
        "lapwing groups",
        "lapwing groups alarms --watch",
        "lapwing groups --json | jq -r '[.name, .backlog_s] | @tsv'",
        "lapwing groups show alarms --url https://edge:8443 --token-file token",
    )
)
@asks_broker
def show(
    asked: Asked,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Share name; default: every group.")] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Draw again every second, until Ctrl-C.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per group and line.")] = False,
) -> None:
    """Print groups; for one group (or one by NAME) its members too.

    BACKLOG is how long the members would work on what waits, LOST what gave way for want of room, WORK what
    a message is expected to take a member.
    """
    api = GroupApi(*asked)

    def ask() -> list[dict[str, Any]]:
        groups: list[dict[str, Any]] = api.groups() if name is None else api.group(name)["groups"]
        return groups

    answers = watched(ask, _WATCH_INTERVAL_S, Again(f"the broker at {asked[0]}")) if watch else iter([ask()])
    if json:
        for groups in answers:
            for group in groups:
                echo_json(group)
    else:
        _draw(answers, is_named=name is not None, watch=watch)


def _draw(answers: Iterator[list[dict[str, Any]]], *, is_named: bool, watch: bool) -> None:
    """On a terminal in colour and in place; into a pipe as plain tables, one after the other."""
    from rich.console import Console
    from rich.live import Live

    from lapwing.cli.groups_table import on_terminal, plain

    groups = next(answers)
    if not sys.stdout.isatty():
        typer.echo(plain(groups, members=is_named or len(groups) == 1))
        for groups in answers:
            typer.echo("\n" + plain(groups, members=is_named or len(groups) == 1))
        return
    console = Console()
    if not watch:
        console.print(on_terminal(groups, members=is_named or len(groups) == 1))
        return
    with Live(console=console, auto_refresh=False, screen=True) as live:
        live.update(on_terminal(groups, members=is_named or len(groups) == 1), refresh=True)
        for groups in answers:
            live.update(on_terminal(groups, members=is_named or len(groups) == 1), refresh=True)


@app.command(
    epilog=examples(
        "lapwing groups add alarms --filter 'alarms/#'",
        "lapwing groups add alarms --filter 'alarms/#' --strategy lef --set expired=dead-letter"
        " --set dead_letter_topic=dead/alarms",
        "lapwing groups add 'batch-*' --strategy least-inflight --set parameters.window=50",
    )
)
@asks_broker
def add(
    asked: Asked,
    name: Name,
    filters: Annotated[
        list[str],
        typer.Option("--filter", "-f", metavar="FILTER", help="Declare a durable group of it; may be repeated."),
    ] = [],  # noqa: B006
    strategy: Annotated[
        str | None, typer.Option("--strategy", "-s", metavar="NAME", help="How a member is chosen; default: auto.")
    ] = None,
    settings: Annotated[
        list[str], typer.Option("--set", metavar="KEY=VALUE", help="One key, as in a file; may be repeated.")
    ] = [],  # noqa: B006
) -> None:
    """Add the settings of a name or pattern, and declare durable groups.

    They last until they are removed, or the broker ends. Of a broker with a data folder a group that they declare
    comes back with them. What should be so at the next start in any case belongs into the broker's file.
    """
    # Imported only where settings are given: it loads the whole configuration.
    from lapwing.cli.group_settings import changed

    api = GroupApi(*asked)
    table: dict[str, Any] = {"filters": filters} if filters else {}
    if strategy is not None:
        table["strategy"] = strategy
    try:
        api.add(name, changed(table, settings))
    except GroupChangedError as error:
        remedy = f"see lapwing groups set {name} KEY=VALUE"
        raise GroupError(f"there are settings for {name!r} already", remedy=remedy) from error


@app.command(
    "set",
    epilog=examples(
        "lapwing groups set alarms strategy=c3",
        "lapwing groups set alarms behind=30s parameters.window=5",
        "lapwing groups set alarms missed_topic=",
    ),
)
@asks_broker
def set_(
    asked: Asked,
    name: Name,
    assignments: Assignments,
) -> None:
    """Change settings of a name or pattern; groups there are go on with them, and keep what waits."""
    from lapwing.cli.group_settings import changed

    api = GroupApi(*asked)
    try:
        api.change(name, lambda settings: changed(settings, assignments))
    except GroupUnknownError as error:
        remedy = f"see lapwing groups add {name} --help"
        raise GroupError(f"there are no settings for {name!r}", remedy=remedy) from error


@app.command(epilog=examples("lapwing groups remove alarms"))
@asks_broker
def remove(
    asked: Asked,
    name: Name,
) -> None:
    """Remove the settings of a name or pattern; durable groups that they declared end, with what waits in them.

    A group with members goes on without being durable, and ends with the last of them.
    """
    GroupApi(*asked).remove(name)
