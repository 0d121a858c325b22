"""The options that ``pub`` and ``sub`` share."""

from __future__ import annotations

from typing import Annotated

import typer

URL_DEFAULT = "tcp://127.0.0.1:1883"


Url = Annotated[
    str, typer.Option("--url", "-u", metavar="URL", envvar="LAPWING_URL", help="The broker, as it prints it.")
]
Qos = Annotated[int, typer.Option("--qos", "-q", min=0, max=2, help="0: at most once, 1: at least, 2: exactly.")]
ClientId = Annotated[str, typer.Option("--id", metavar="ID", help="Client id; default: the broker chooses.")]
ProtocolVersion = Annotated[int, typer.Option("--version", "-V", min=4, max=5, help="4 is MQTT 3.1.1, 5 is 5.0.")]
Timeout = Annotated[float, typer.Option("--timeout", "-t", min=0, metavar="SECONDS", help="Give up after.")]
