"""The options of commands that speak to a broker's HTTP side: where, who asks, and whom they trust."""

from __future__ import annotations

from typing import Annotated

import typer

from lapwing.credentials import PASSWORD_VARIABLE, TOKEN_VARIABLE, Credentials, find_credentials

_PANEL = "Identity and TLS"
URL_DEFAULT = "http://127.0.0.1:8080"

HttpUrl = Annotated[
    str,
    typer.Option("--url", "-u", metavar="URL", envvar="LAPWING_HTTP_URL", help="The broker's HTTP side."),
]

TokenFile = Annotated[
    str | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help=f"Its first line is a token; default: {TOKEN_VARIABLE}.",
        rich_help_panel=_PANEL,
    ),
]
User = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="A user, in place of a token.", rich_help_panel=_PANEL),
]
PasswordFile = Annotated[
    str | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help=f"Its first line is the user's password; default: {PASSWORD_VARIABLE}.",
        rich_help_panel=_PANEL,
    ),
]
Ca = Annotated[
    str,
    typer.Option(
        "--ca",
        metavar="FILE",
        envvar="LAPWING_CA",
        help="Authorities to trust over https, in PEM; default: this machine's.",
        rich_help_panel=_PANEL,
    ),
]


def credentials_of(token_file: str | None, user: str | None, password_file: str | None) -> Credentials:
    """Who asks.

    Raises:
        ConfigError: two ways at once, or a file that cannot be read.
    """
    return find_credentials(user=user, password_file=password_file, token_file=token_file)
