"""``lapwing queues [list|show|drop]``: what waits for a broker's clients, from the outside, over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from lapwing.cli.common import echo_json, examples
from lapwing.cli.http_options import URL_DEFAULT, Ca, HttpUrl, PasswordFile, TokenFile, User, credentials_of
from lapwing.cli.session_api import SessionApi
from lapwing.cli.session_list import Listing
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
)
from lapwing.cli.sessions_table import messages_table, now_utc, queues_table, text

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
def list_(
    prefix: Prefix = "",
    state: OnlyState = None,
    longest: Annotated[Measure, typer.Option("--longest", "-l", help="By what a queue is long.")] = Measure.MESSAGES,
    limit: Limit = 20,
    all_: All = False,
    json: Json = False,
    url: HttpUrl = URL_DEFAULT,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca: Ca = "",
) -> None:
    """List the clients for whom messages wait, the longest queues first; with --all every one, by client id.

    OUT is how many messages are under way to the client, not acknowledged; they are not in WAITING.
    """
    api = SessionApi(url, credentials_of(token_file, user, password_file), ca)
    listing = Listing(api, "queues", prefix=prefix, state=state, longest=None if all_ else longest, after=None)
    listing.show(lambda rows: queues_table(rows, now_utc()), limit=limit, every=all_, json=json)


@app.command(epilog=examples("lapwing queues show device-7", "lapwing queues show device-7 --head 100 --json"))
def show(
    client_id: ClientId,
    head: Head = 20,
    json: Json = False,
    url: HttpUrl = URL_DEFAULT,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca: Ca = "",
) -> None:
    """Print one client's queue, and what has waited longest in it. Payloads are not shown."""
    queue = SessionApi(url, credentials_of(token_file, user, password_file), ca).one("queues", client_id, head)
    if json:
        echo_json(queue)
        return
    typer.echo(queues_table([queue], now_utc()))
    if queue["queue"]:
        typer.echo(f"\n{messages_table(queue['queue'])}")


@app.command(epilog=examples("lapwing queues drop device-7", "lapwing queues drop device-7 device-8 --yes"))
def drop(
    client_ids: ClientIds,
    yes: Yes = False,
    url: HttpUrl = URL_DEFAULT,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca: Ca = "",
) -> None:
    """Drop what waits for clients; sessions, subscriptions and what is under way stay. Says what went."""
    api = SessionApi(url, credentials_of(token_file, user, password_file), ca)
    confirm("drop what waits for", client_ids, yes=yes)
    for client_id in client_ids:
        dropped = api.empty(client_id)
        typer.echo(f"{text(client_id)}: {dropped['messages']:,} messages, {dropped['bytes']:,} bytes dropped")
