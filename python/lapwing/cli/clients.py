"""``lapwing clients [list|kick]``: who is connected to a broker, from the outside, over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from lapwing.cli.again import Again, watched
from lapwing.cli.bans import ListWithoutCommand
from lapwing.cli.common import examples
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.cli.session_api import SessionApi
from lapwing.cli.session_list import Listing
from lapwing.cli.session_options import After, All, ClientIds, Json, Limit, Measure, Prefix, Yes, confirm, for_each
from lapwing.cli.sessions_table import clients_table, now_utc

_WATCH_INTERVAL_S = 1.0

app = typer.Typer(
    cls=ListWithoutCommand,
    help="See who is connected, and send clients away.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command: list.",
)


@app.command(
    "list",
    epilog=examples(
        "lapwing clients",
        "lapwing clients list --prefix device- --watch",
        "lapwing clients --longest bytes --limit 10",
        "lapwing clients --all --json | jq -r .address",
    ),
)
@asks_broker
def list_(
    asked: Asked,
    prefix: Prefix = "",
    longest: Annotated[Measure | None, typer.Option("--longest", "-l", help="The longest queues first.")] = None,
    limit: Limit = 100,
    after: After = None,
    all_: All = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Again and again, until Ctrl-C.")] = False,
    json: Json = False,
) -> None:
    """List who is connected: who, from where, by which listener, since when, and what is under way.

    IN and OUT are bytes of the connection; INFLIGHT messages under way to the client and from it.
    """
    api = SessionApi(*asked)

    def show() -> None:
        listing = Listing(api, "clients", prefix=prefix, state=None, longest=longest, after=after)
        listing.show(lambda rows: clients_table(rows, now_utc()), limit=limit, every=all_, json=json)

    if not watch:
        show()
        return
    for _ in watched(show, _WATCH_INTERVAL_S, Again(f"the broker at {asked[0]}")):
        pass


@app.command(epilog=examples("lapwing clients kick device-7", "lapwing clients kick device-7 device-8 --yes"))
@asks_broker
def kick(asked: Asked, client_ids: ClientIds, yes: Yes = False) -> None:
    """Close connections (0x98); sessions stay as they would. Who comes again is let in: rules keep somebody out."""
    api = SessionApi(*asked)
    confirm("close the connection of", client_ids, yes=yes)
    for_each(client_ids, api.kick)
