"""``lapwing lab run dispatch``: one trace through every policy, and through other brokers."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from lapwing.cli.common import echo_json, examples
from lapwing.cli.signals import ended_as_by_ctrl_c
from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.lab.dispatch.experiment import Result

EPILOG = examples(
    "lapwing lab run dispatch --quick",
    "lapwing lab run dispatch --policies lef,c3 --loads 0.7 --scenario bursts --out out/bursts",
    "lapwing lab run dispatch --peer mosquitto --peer 'mochi=mochi --tcp {host}:{port}' --json",
)


@ended_as_by_ctrl_c()
def dispatch(
    policies: Annotated[
        str | None, typer.Option("--policies", metavar="A,B", help="Strategies of Lapwing; the first is the measure.")
    ] = None,
    loads: Annotated[
        str | None, typer.Option("--loads", metavar="X,Y", help="Offered work as shares of the members' capacity.")
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", metavar="NAME", help="hetero, mild, equal, bursts or blackholes; repeatable."),
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, metavar="N", help="Days, each another trace.")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=5.0, metavar="S", help="Of each run, after its warm-up.")
    ] = None,
    drain: Annotated[
        float | None, typer.Option("--drain", min=0.0, metavar="S", help="For what is not done at the end of a run.")
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            "--peer",
            metavar="NAME[=COMMAND]",
            help="Another broker: mosquitto, rumqttd, or a command with {host} and {port} in it; repeatable.",
        ),
    ] = None,
    declare: Annotated[
        str, typer.Option("--declare", metavar="processed|received|nothing", help="What members say they acknowledge.")
    ] = "processed",
    reports: Annotated[bool, typer.Option("--reports", help="Members report their queue in each PUBACK.")] = False,
    receive_maximum: Annotated[
        int,
        typer.Option("--receive-maximum", min=1, max=65_535, metavar="N", help="What each member may have at a time."),
    ] = 65_535,
    link: Annotated[str, typer.Option("--link", metavar="auto|tun|proxy", help="What holds packets back.")] = "auto",
    shards: Annotated[int, typer.Option("--shards", min=1, metavar="N", help="Data threads of Lapwing.")] = 2,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Gets result.json, pictures and the traces.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Under a minute: LEF and round robin; no figures.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Who finishes first: one group, one trace, every policy, on real processes.

    Starts one broker, twenty members of a group as processes of their own, a link that holds back each member's packets
    both ways, and a publisher; replays the same day for every policy in alternation. Times are from the
    instant at which a message is due to the end of the member's handler. docs/dispatch-experiment.md says how and why.
    """
    from lapwing.lab.dispatch import plan as plans
    from lapwing.lab.dispatch.brokers import peer as peer_named
    from lapwing.lab.dispatch.experiment import MembersOnly, Result, run_experiment
    from lapwing.lab.dispatch.links import open_links
    from lapwing.lab.dispatch.scenario import scenario_named
    from lapwing.lab.dispatch.screen import Screen, print_tables
    from lapwing.lab.dispatch.session import Conditions, declared

    peers = [peer_named(text) for text in peer or []]
    names: tuple[str, ...] = plans.QUICK_POLICIES if quick else plans.POLICIES
    if policies is not None:
        names = tuple(filter(None, policies.split(",")))
    plan = plans.Plan(
        tuple(map(scenario_named, scenario or ["hetero"])),
        (*names, *(one.name for one in peers)),
        _numbers(loads) if loads is not None else plans.QUICK_LOADS if quick else plans.LOADS,
        seeds or (1 if quick else plans.SEEDS),
        seconds or (plans.QUICK_SECONDS if quick else plans.SECONDS),
        (plans.QUICK_DRAIN_S if quick else plans.DRAIN_S) if drain is None else drain,
    )
    acknowledges = declared(declare)
    with (
        open_links(link, lambda text: typer.echo(text, err=True)) as links,
        Screen(plan, quiet=json) as screen,
        TemporaryDirectory(prefix="lapwing-lab-traces-") as scratch,
    ):
        conditions = Conditions(links, acknowledges, reports, receive_maximum, plan.drain_s)
        folder = (out or Path(scratch)) / "traces"
        rows = run_experiment(plan, peers, links, MembersOnly(conditions, plan.warm_s), shards, folder, screen)
    result = Result(plan, conditions, rows)
    if out is not None:
        _write(result, out)
    if json:
        echo_json(result.to_json())
    else:
        print_tables(plan, rows, "critical messages whose handler ended after their deadline of 250 ms")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part)
    except ValueError as error:
        raise ConfigError(f"{text!r} is no list of numbers", where="--loads", remedy="write 0.5,0.7") from error


def _write(result: Result, out: Path) -> None:
    from lapwing.lab.dispatch.pictures import draw

    out.mkdir(parents=True, exist_ok=True)
    (out / "result.json").write_text(json_module.dumps(result.to_json(), indent=1) + "\n")
    draw(result, out)
