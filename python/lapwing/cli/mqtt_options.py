"""The options that ``pub``, ``sub`` and ``shell`` share."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from lapwing.cli.tls_options import CA_VARIABLE, PANEL, own_ca
from lapwing.client_url import check_tls_files
from lapwing.credentials import PASSWORD_VARIABLE, read_secret

if TYPE_CHECKING:
    from lapwing.client.identity import Identity

URL_DEFAULT = "tcp://127.0.0.1:1883"


Url = Annotated[
    str,
    typer.Option(
        "--url", "-u", metavar="URL", envvar="LAPWING_URL", help="The broker, as it prints it: tcp, tls, ws, wss or sn."
    ),
]
Qos = Annotated[int, typer.Option("--qos", "-q", min=0, max=2, help="0: at most once, 1: at least, 2: exactly.")]
ClientId = Annotated[str, typer.Option("--id", metavar="ID", help="Client id; default: the broker chooses.")]
ProtocolVersion = Annotated[
    int | None,
    typer.Option(
        "--version", "-V", min=4, max=5, help="4 is MQTT 3.1.1, 5 is 5.0; default: 5, and 4 over sn, which has no more."
    ),
]
Timeout = Annotated[float, typer.Option("--timeout", "-t", min=0, metavar="SECONDS", help="Give up after.")]
Username = Annotated[
    str | None,
    typer.Option(
        "--username",
        metavar="NAME",
        envvar="LAPWING_USERNAME",
        help=f"User name; the password comes from --password-file, {PASSWORD_VARIABLE}, or a question.",
        rich_help_panel=PANEL,
    ),
]
PasswordFile = Annotated[
    str | None,
    typer.Option(
        "--password-file", metavar="FILE", help="Its first line is the password, or a token.", rich_help_panel=PANEL
    ),
]
Ca = Annotated[
    str | None,
    typer.Option(
        "--ca",
        metavar="FILE",
        envvar=CA_VARIABLE,
        help="Authorities to trust over TLS, in PEM; default: this machine's.",
        rich_help_panel=PANEL,
    ),
]


def identity_of(
    url: str,
    username: str | None,
    password_file: str | None,
    ca: str | None,
    certificate: str | None,
    key: str | None,
) -> Identity:
    """What the options say; asks for the password where nothing else gives it and somebody sits there.

    Raises:
        ConfigError: the password's file cannot be read, or there is one and no user name; or an option is for TLS, and
            ``url`` has none.
    """
    from lapwing.client.identity import Identity
    from lapwing.errors import ConfigError

    check_tls_files(url, {"--ca": own_ca(ca), "--cert": certificate, "--key": key})
    if username is None:
        if password_file is not None:
            raise ConfigError("a password without a user name", where="--password-file", remedy="give --username")
        return Identity(None, None, ca, certificate, key)
    return Identity(username, _password(username, password_file), ca, certificate, key)


def _password(username: str, file: str | None) -> str | None:
    if file is not None:
        return read_secret(file, "password")
    found = os.environ.get(PASSWORD_VARIABLE)
    if found is None and sys.stdin.isatty():
        found = typer.prompt(f"Password of {username}", hide_input=True, err=True)
    return found
