"""``lapwing sessions [list|show|drop]``: the sessions of a broker's clients from the outside, over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from lapwing.cli.common import examples
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.cli.session_api import SessionApi
from lapwing.cli.session_list import Listing, show_one
from lapwing.cli.session_options import (
    After,
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
from lapwing.cli.sessions_table import now_utc, sessions_table, subscriptions_table

app = typer.Typer(
    cls=ListByDefault,
    help="See clients' sessions, and end them.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command: list. lapwing sessions CLIENT is lapwing sessions show CLIENT.",
)


@app.command(
    "list",
    epilog=examples(
        "lapwing sessions",
        "lapwing sessions list --prefix device- --state away",
        "lapwing sessions --longest bytes --limit 10",
        "lapwing sessions --all --json | jq -r .client_id",
    ),
)
@asks_broker
def list_(
    asked: Asked,
    prefix: Prefix = "",
    state: OnlyState = None,
    longest: Annotated[Measure | None, typer.Option("--longest", "-l", help="The longest queues first.")] = None,
    limit: Limit = 100,
    after: After = None,
    all_: All = False,
    json: Json = False,
) -> None:
    """List sessions by client id.

    EXPIRY is how long a session outlives its connection; OUT and IN are messages under way to the client and from it.
    """
    api = SessionApi(*asked)
    listing = Listing(api, "sessions", prefix=prefix, state=state, longest=longest, after=after)
    listing.show(lambda rows: sessions_table(rows, now_utc()), limit=limit, every=all_, json=json)


@app.command(epilog=examples("lapwing sessions show device-7", "lapwing sessions show device-7 --head 50 --json"))
@asks_broker
def show(
    asked: Asked,
    client_id: ClientId,
    head: Head = 10,
    json: Json = False,
) -> None:
    """Print one session, what it subscribes to, and what has waited longest for it."""
    session = SessionApi(*asked).one("sessions", client_id, head)

    def draw() -> list[str]:
        subscribed = [subscriptions_table(session)] if session["subscribed"] else []
        return [sessions_table([session], now_utc()), *subscribed]

    show_one(session, draw, json=json)


@app.command(epilog=examples("lapwing sessions drop device-7", "lapwing sessions drop device-7 device-8 --yes"))
@asks_broker
def drop(
    asked: Asked,
    client_ids: ClientIds,
    yes: Yes = False,
) -> None:
    """End sessions: a connection is closed (0x98), subscriptions and what waits go, a will is published."""
    api = SessionApi(*asked)
    confirm("end the session of", client_ids, yes=yes)
    for_each(client_ids, api.end)
