"""``lapwing lab run surveillance``: from the sensor to the guard, by strategy."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from lapwing.cli.common import echo_json, examples
from lapwing.cli.signals import ended_as_by_ctrl_c

if TYPE_CHECKING:
    from lapwing.lab.dispatch.outcome import Row
    from lapwing.lab.dispatch.plan import Plan

EPILOG = examples(
    "lapwing lab run surveillance --out out/surveillance",
    "lapwing lab run surveillance --quick --json",
    "lapwing lab run surveillance --policies lef,c3,round-robin --load 0.9 --seeds 3 --seconds 60",
)
_POLICIES, _QUICK_POLICIES = "lef,c3,round-robin", "lef,round-robin"
_SECONDS, _QUICK_SECONDS = 30.0, 8.0
_DRAIN_S, _QUICK_DRAIN_S = 15.0, 2.0


@ended_as_by_ctrl_c()
def surveillance(
    policies: Annotated[
        str | None, typer.Option("--policies", metavar="A,B", help="Strategies; the first is the measure.")
    ] = None,
    load: Annotated[float, typer.Option("--load", metavar="X", help="Share of the analysers' capacity.")] = 0.7,
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="Days, each another.")] = 1,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=5.0, metavar="S", help="Of each run, after its warm-up.")
    ] = None,
    link: Annotated[str, typer.Option("--link", metavar="auto|tun|proxy", help="What holds packets back.")] = "auto",
    shards: Annotated[int, typer.Option("--shards", min=1, metavar="N", help="Data threads of the broker.")] = 2,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Gets surveillance.png and result.json.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Under a minute; shapes, no figures.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """A scene from end to end: sensors, a group of analysers of unequal speed, a guard.

    Sensors raise detections; each goes to one analyser, who looks closer and, where there is an intruder, raises an
    alarm; the guard hears it. The same day is replayed for every strategy of the analysers' group. Times are from the
    instant at which a detection is due to the guard's receipt; urgent alarms are missed after 500 ms.
    """
    from lapwing.lab.dispatch.experiment import run_experiment
    from lapwing.lab.dispatch.links import open_links
    from lapwing.lab.dispatch.plan import Plan
    from lapwing.lab.dispatch.screen import Screen, print_tables
    from lapwing.lab.surveillance.result import to_json
    from lapwing.lab.surveillance.scene import Scene
    from lapwing.lab.surveillance.site import ALARM_DEADLINE_MS, SITE

    names = policies if policies is not None else _QUICK_POLICIES if quick else _POLICIES
    duration_s = seconds or (_QUICK_SECONDS if quick else _SECONDS)
    drain_s = _QUICK_DRAIN_S if quick else _DRAIN_S
    plan = Plan((SITE,), tuple(filter(None, names.split(","))), (load,), seeds, duration_s, drain_s)
    with (
        open_links(link, lambda text: typer.echo(text, err=True)) as links,
        Screen(plan, quiet=json) as screen,
        TemporaryDirectory(prefix="lapwing-lab-traces-") as scratch,
    ):
        scene = Scene(links, plan.warm_s, plan.drain_s)
        rows = run_experiment(plan, [], links, scene, shards, Path(scratch), screen)
    if out is not None:
        _write(plan, rows, out)
    if json:
        echo_json(to_json(plan, rows))
    else:
        print_tables(plan, rows, f"urgent alarms that the guard heard later than {ALARM_DEADLINE_MS} ms")


def _write(plan: Plan, rows: tuple[Row, ...], out: Path) -> None:
    from lapwing.lab.surveillance.result import draw, to_json

    out.mkdir(parents=True, exist_ok=True)
    (out / "result.json").write_text(json_module.dumps(to_json(plan, rows), indent=1) + "\n")
    draw(rows, out / "surveillance.png")
