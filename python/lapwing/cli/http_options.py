"""The options of commands that speak to a broker's HTTP side: where, who asks, and whom they trust."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer

from lapwing.cli.tls_options import CA_VARIABLE, PANEL, Certificate, Key, own_ca
from lapwing.client_url import check_tls_files
from lapwing.credentials import PASSWORD_VARIABLE, TOKEN_VARIABLE, Credentials, find_credentials
from lapwing.https import TlsFiles

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
        rich_help_panel=PANEL,
    ),
]
User = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="A user, in place of a token.", rich_help_panel=PANEL),
]
PasswordFile = Annotated[
    str | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help=f"Its first line is the user's password; default: {PASSWORD_VARIABLE}.",
        rich_help_panel=PANEL,
    ),
]
Ca = Annotated[
    str,
    typer.Option(
        "--ca",
        metavar="FILE",
        envvar=CA_VARIABLE,
        help="Authorities to trust over https, in PEM; default: this machine's.",
        rich_help_panel=PANEL,
    ),
]


def credentials_of(token_file: str | None, user: str | None, password_file: str | None) -> Credentials:
    """Who asks.

    Raises:
        ConfigError: two ways at once, or a file that cannot be read.
    """
    return find_credentials(user=user, password_file=password_file, token_file=token_file)


class Asked(NamedTuple):
    """The broker that a command asks, and as whom; in the order in which ``HttpApi`` and those above it take them."""

    url: str
    credentials: Credentials
    tls: TlsFiles


def asks_broker(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of this module, and it their meaning as its first argument, an ``Asked``."""
    first, *own = inspect.signature(command).parameters.values()
    options = list(inspect.signature(_asked).parameters.values())

    @functools.wraps(command)
    def run(**given: Any) -> None:
        asked = _asked(**{option.name: given.pop(option.name) for option in options})
        command(asked, **given)

    hints = {**get_type_hints(_asked, include_extras=True), **get_type_hints(command, include_extras=True)}
    del hints[first.name]
    keywords = [p.replace(kind=p.KEYWORD_ONLY, annotation=hints[p.name]) for p in (*own, *options)]
    # What typer looks at.
    run.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    run.__annotations__ = hints
    return run


def _asked(
    url: HttpUrl = URL_DEFAULT,
    token_file: TokenFile = None,
    user: User = None,
    password_file: PasswordFile = None,
    ca: Ca = "",
    cert: Certificate = None,
    key: Key = None,
) -> Asked:
    own = {"--ca": own_ca(ca), "--cert": cert, "--key": key}
    if "://" not in url and any(own.values()):
        url = f"https://{url}"
    check_tls_files(url, own)
    return Asked(url, credentials_of(token_file, user, password_file), TlsFiles(ca, cert or "", key or ""))
