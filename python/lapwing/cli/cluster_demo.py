"""``lapwing cluster demo``: three nodes on this machine, the one that serves killed again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import echo_json, examples, notice
from lapwing.cli.session_options import Json
from lapwing.cli.signals import ended_as_by_ctrl_c
from lapwing.errors import ConfigError

EPILOG = examples(
    "lapwing cluster demo",
    "lapwing cluster demo --clients 20 --kills 1 --seconds 5",
    "lapwing cluster demo --kills 10 --seconds 120 --rate 2000 --json",
    "lapwing cluster demo --out marsh && lapwing broker --config marsh/n1.toml",
)
_CLIENTS_MAX, _KILLS_MAX = 10_000, 1_000


@ended_as_by_ctrl_c()
def demo(
    clients: Annotated[
        int,
        typer.Option("--clients", metavar="N", min=2, max=_CLIENTS_MAX, help="Half publish, half subscribe: one each."),
    ] = 200,
    kills: Annotated[
        int, typer.Option("--kills", metavar="N", min=0, max=_KILLS_MAX, help="Of the node that serves.")
    ] = 3,
    rate: Annotated[
        float, typer.Option("--rate", metavar="PER_S", min=0.1, help="Messages a second over all publishers.")
    ] = 500.0,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", metavar="S", min=1.0, help="How long they publish, at least; kills are spread over it."
        ),
    ] = 20.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep the nodes' configurations, data and logs here; new or empty."),
    ] = None,
    json: Json = False,
) -> int:
    """Kill the node that serves, of three on this machine under load: how long nobody served, and what was lost.

    Clients publish with QoS 1 and QoS 2 and subscribe, all with kept sessions; each knows the addresses of all nodes.
    A node that was killed is started again before the next kill. Exit code 1 if anything that was acknowledged did not
    come, or came twice with QoS 2; the nodes' folder is kept then. Ctrl-C ends all processes.
    """
    from lapwing.lab.cluster_demo.folder import demo_folder
    from lapwing.lab.cluster_demo.run import Plan, run_demo
    from lapwing.lab.cluster_demo.screen import Screen

    if clients % 2:
        raise ConfigError(f"--clients {clients}", remedy="give an even number: half of them publish, half subscribe")
    screen = Screen(quiet=json)
    with demo_folder(out, notice) as folder:
        summary = run_demo(Plan(clients, kills, rate, seconds), folder.path, screen)
        folder.is_kept |= not summary.verdict.holds
    if json:
        echo_json(summary.document())
    else:
        screen.result(summary)
    return summary.exit_code
