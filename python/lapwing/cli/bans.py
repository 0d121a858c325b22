"""``lapwing bans [list|lift]``: who may not log in for wrong passwords, from the outside, over HTTP."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote

import typer
from typer.core import TyperGroup

from lapwing.cli.common import echo_json, examples, table
from lapwing.cli.http_api import HttpApi
from lapwing.cli.http_options import Asked, asks_broker
from lapwing.cli.session_options import Json, for_each
from lapwing.cli.sessions_table import span
from lapwing.errors import BanError, LapwingError
from lapwing.text import one_line

BAN_HEAD = ("ADDRESS", "USER", "FAILURES", "ENDS")


class BanUnknownError(BanError):
    """No ban of that address or name."""


_KINDS: dict[str, type[LapwingError]] = {"ban_unknown": BanUnknownError}


class ListWithoutCommand(TyperGroup):
    """``lapwing bans`` is ``lapwing bans list``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the command where only options are given."""
        is_bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if is_bare else args)


app = typer.Typer(
    cls=ListWithoutCommand,
    help="See who is kept out for wrong passwords, and let them in.",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Without a command: list.",
)


def _api(asked: Asked) -> HttpApi:
    return HttpApi(*asked, kinds=_KINDS, other=BanError)


@app.command("list", epilog=examples("lapwing bans list", "lapwing bans list --json | jq -r .address"))
@asks_broker
def list_(asked: Asked, json_: Json = False) -> None:
    """List addresses, and user names from an address, that may not log in for now.

    USER is "any" where it is the address, whatever the name. FAILURES led to it.
    """
    _, body = _api(asked).request("GET", "/v1/bans")
    bans: list[dict[str, Any]] = json.loads(body)["bans"]
    if json_:
        for ban in bans:
            echo_json(ban)
        return
    if bans:
        typer.echo(table(map(_row, bans), BAN_HEAD))
    typer.echo(f"{len(bans):,} bans", err=True)


@app.command(epilog=examples("lapwing bans lift 203.0.113.7", "lapwing bans lift 2001:db8::/64 bob"))
@asks_broker
def lift(
    asked: Asked,
    whom: Annotated[list[str], typer.Argument(metavar="ADDRESS|NAME...", help="Addresses, or user names.")],
) -> None:
    """Let addresses or user names log in again, from wherever they were barred; their failures are forgotten."""
    api = _api(asked)

    def lift_one(who: str) -> None:
        _, body = api.request("DELETE", f"/v1/bans/{quote(who, safe='')}")
        typer.echo(f"{one_line(who)}: {json.loads(body)['lifted']:,} bans lifted")

    for_each(whom, lift_one)


def _row(ban: dict[str, Any]) -> tuple[str, ...]:
    user = "any" if ban["user"] is None else one_line(ban["user"])
    return (ban["address"], user, f"{ban['failures']:,}", f"in {span(ban['ends_in_s'])}")
