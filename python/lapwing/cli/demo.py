"""``lapwing demo``: the whole path on this machine, from devices to pictures, with nothing to prepare."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import examples
from lapwing.cli.signals import ended_as_by_ctrl_c

app = typer.Typer()


@app.command(
    epilog=examples(
        "lapwing demo",
        "lapwing demo --devices 1000 --seconds 30 --out out/city",
        "lapwing demo --kafka --out out/kafka",
        "lapwing demo --replay cork-5g-traces.zip --speed 200 --out out/cork",
    )
)
@ended_as_by_ctrl_c()
def demo(
    context: typer.Context,
    devices: Annotated[int, typer.Option("--devices", metavar="N", min=1, help="Simulated devices.")] = 200,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", min=1.0, help="How long they send.")] = 20.0,
    rate: Annotated[
        float, typer.Option("--rate", metavar="R", min=0.001, help="Readings per device and second.")
    ] = 1.0,
    replay: Annotated[
        Path | None,
        typer.Option("--replay", metavar="PATH", help="Play real traces instead: a ZIP, a folder or a CSV file."),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            "--speed",
            metavar="X",
            min=0.001,
            help="How much faster than the clock the city's time, or the traces, run; else 60, or 200.",
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option("--zone", metavar="NAME", help="Local time of the traces, as Europe/Paris; else Europe/Dublin."),
    ] = None,
    kafka: Annotated[
        bool, typer.Option("--kafka", help="Through bridge members and a Kafka server of its own (make kafka-jars).")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Same seed, same readings.")] = 1,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Output; new, empty, or a former demo's (cleared).")
    ] = Path("lapwing-demo"),
) -> int:
    """The whole path on this machine: devices, broker, stream or Kafka, Spark, tables, pictures.

    Writes DIR/tables/NAME (Delta), coverage.png, latency.png, loss.png, report.html and summary.json. Needs
    Java 17 or later for Spark. Ctrl-C ends it and removes what it wrote. Exit code 1 if anything that was
    sent is not in the tables exactly once.
    """
    from lapwing.lab.demo import DemoPlan, run_demo
    from lapwing.lab.demo_screen import Screen
    from lapwing.lab.replay import ZONE

    # PySpark warns of versions of pandas that it uses nowhere here; the lines would tear the progress bars.
    warnings.filterwarnings("ignore", module=r"pyspark\.")
    with Screen() as screen:
        if replay is not None and _given(context, "devices", "seconds", "rate"):
            screen.note("with --replay the traces say how many devices send, how long and how often")
        if replay is None and zone is not None:
            screen.note("--zone is for --replay: the made-up city has no clock of its own")
        plan = DemoPlan(out, devices, seconds, rate, replay, speed, seed, kafka, zone or ZONE)
        summary = run_demo(plan, screen)
    screen.result(summary, out / "report.html")
    return 0 if summary.whole else 1


def _given(context: typer.Context, *options: str) -> bool:
    """Whether the user gave one of the options; a default does not count."""
    sources = (context.get_parameter_source(option) for option in options)
    return any(source is not None and source.name != "DEFAULT" for source in sources)
