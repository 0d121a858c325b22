"""``lapwing queues [list|show|drop]``: what waits for a broker's clients, from the outside, over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from lapwing.cli.common import examples
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.cli.session_api import SessionApi
from lapwing.cli.session_list import Listing, show_one
from lapwing.cli.session_options import (
    All,
    ClientId,
    ClientIds,
    Head,
    Json,
    Limit,
    ListByDefault,
    Measure,
    OnlyState,
    Prefix,
    Yes,
    confirm,
    for_each,
)
from lapwing.cli.sessions_table import now_utc, queues_table
from lapwing.text import one_line

app = typer.Typer(
    cls=ListByDefault,
    help="See what waits for clients, the most first, and drop it.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command: list. lapwing queues CLIENT is lapwing queues show CLIENT.",
)


@app.command(
    "list",
    epilog=examples(
        "lapwing queues",
        "lapwing queues --longest bytes --limit 10",
        "lapwing queues list --prefix device- --state away",
        "lapwing queues --all --json | jq -r '[.client_id, .waiting_messages] | @tsv'",
    ),
)
@asks_broker
def list_(
    asked: Asked,
    prefix: Prefix = "",
    state: OnlyState = None,
    longest: Annotated[Measure, typer.Option("--longest", "-l", help="By what a queue is long.")] = Measure.MESSAGES,
    limit: Limit = 20,
    all_: All = False,
    json: Json = False,
) -> None:
    """List the clients for whom messages wait, the longest queues first; with --all every one, by client id.

    OUT is how many messages are under way to the client, not acknowledged; they are not in WAITING.
    """
    api = SessionApi(*asked)
    listing = Listing(api, "queues", prefix=prefix, state=state, longest=None if all_ else longest, after=None)
    listing.show(lambda rows: queues_table(rows, now_utc()), limit=limit, every=all_, json=json)


@app.command(epilog=examples("lapwing queues show device-7", "lapwing queues show device-7 --head 100 --json"))
@asks_broker
def show(
    asked: Asked,
    client_id: ClientId,
    head: Head = 20,
    json: Json = False,
) -> None:
    """Print one client's queue, and what has waited longest in it. Payloads are not shown."""
    queue = SessionApi(*asked).one("queues", client_id, head)
    show_one(queue, lambda: [queues_table([queue], now_utc())], json=json)


@app.command(epilog=examples("lapwing queues drop device-7", "lapwing queues drop device-7 device-8 --yes"))
@asks_broker
def drop(
    asked: Asked,
    client_ids: ClientIds,
    yes: Yes = False,
) -> None:
    """Drop what waits for clients; sessions, subscriptions and what is under way stay. Says what went."""
    api = SessionApi(*asked)
    confirm("drop what waits for", client_ids, yes=yes)

    def empty(client_id: str) -> None:
        dropped = api.empty(client_id)
        typer.echo(f"{one_line(client_id)}: {dropped['messages']:,} messages, {dropped['bytes']:,} bytes dropped")

    for_each(client_ids, empty)
