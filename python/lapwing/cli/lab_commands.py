"""``lapwing lab run commands``: what commands to devices are worth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import echo_json, examples, table

EPILOG = examples(
    "lapwing lab run commands --out out/commands",
    "lapwing lab run commands --out out/commands --devices 60 --seconds 60 --json",
)


def commands(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Gets both runs' tables, freshness.png, report.html, result.json."),
    ],
    devices: Annotated[int, typer.Option("--devices", min=1, max=2_000, metavar="N", help="Phones.")] = 150,
    seconds: Annotated[
        float, typer.Option("--seconds", min=10.0, metavar="S", help="Of each of the two runs.")
    ] = 180.0,
    rate: Annotated[
        float, typer.Option("--rate", min=0.001, metavar="HZ", help="Readings per phone and second.")
    ] = 0.0667,
    fresh: Annotated[float, typer.Option("--fresh", min=1.0, metavar="S", help="A sample counts so long.")] = 30.0,
    samples: Annotated[
        int, typer.Option("--samples", min=1, max=16, metavar="N", help="So many make a place fresh.")
    ] = 3,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The same seed walks the same ways.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """The same phones, walks and number of messages, without and with a controller: how many places are fresh?

    Each phone has a budget of readings. One that is told to measure here and now sends that much less later.
    """
    from lapwing.lab.directed.experiment import run_directed
    from lapwing.lab.directed.result import DirectedPlan
    from lapwing.pipeline.sinks.paths import check_folder

    check_folder("--out", out)
    plan = DirectedPlan(out, devices, seconds, rate, seed, fresh, samples)
    result = run_directed(plan, lambda run: typer.echo(f"{run}: {devices} phones, {seconds:g} s", err=True))
    if json:
        echo_json(asdict(result))
        return
    rows = (
        ("without commands", f"{result.share_without:.1%}", f"{result.readings_without:,}"),
        ("with commands", f"{result.share_with:.1%}", f"{result.readings_with:,}"),
    )
    typer.echo(table(rows, ("RUN", "FRESH PLACES", "READINGS")))
    states = ", ".join(f"{number:,} {state}" for state, number in result.states.items())
    typer.echo(f"{result.ratio:.2f} x, in the second half {result.ratio_second_half:.2f} x")
    typer.echo(f"{result.commands:,} commands: {states}; {result.executed_twice} executed twice")
    if result.reach_p95_ms is not None:
        typer.echo(
            f"from commit to phone: p50 {result.reach_p50_ms:.0f} ms, p95 {result.reach_p95_ms:.0f} ms;"
            f" a batch takes {result.batch_p50_s:.1f} s (p50)"
        )
    typer.echo(f"{out}/report.html, {out}/freshness.png, {out}/result.json")
