"""The options for TLS that commands of MQTT and of HTTP share."""

from __future__ import annotations

import os
from typing import Annotated

import typer

CA_VARIABLE = "LAPWING_CA"
PANEL = "Identity and TLS"

Certificate = Annotated[
    str | None,
    typer.Option("--cert", metavar="FILE", help="The client's own certificate, in PEM.", rich_help_panel=PANEL),
]
Key = Annotated[
    str | None,
    typer.Option("--key", metavar="FILE", help="Its key; default: in the certificate's file.", rich_help_panel=PANEL),
]


def own_ca(ca: str | None) -> str | None:
    """``ca``, where it is this command's own; the environment's is for all commands, whatever URL each has."""
    return None if ca == os.environ.get(CA_VARIABLE) else ca
