"""``lapwing lab run crowdsourcing``: the reference architectures side by side, with more and more phones."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapwing.cli.common import echo_json, examples
from lapwing.cli.signals import ended_as_by_ctrl_c
from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.lab.crowdsourcing.experiment import Result
    from lapwing.lab.crowdsourcing.plan import Plan

EPILOG = examples(
    "lapwing lab run crowdsourcing --architecture a1 --out out/lab",
    "lapwing lab run crowdsourcing --architecture a1 --qos 1 --devices 1000,5000 --rate 2 --seeds 3",
    "lapwing lab run crowdsourcing --architecture a1 --quick --json",
)
_OUT = Path("lapwing-lab")


@ended_as_by_ctrl_c()
def crowdsourcing(
    architecture: Annotated[
        list[str] | None,
        typer.Option("--architecture", metavar="NAME", help="a1 or a3-single; repeatable; default: all there are."),
    ] = None,
    devices: Annotated[
        str | None, typer.Option("--devices", metavar="N,M", help="Numbers of phones, rising, until something gives.")
    ] = None,
    qos: Annotated[
        str | None, typer.Option("--qos", metavar="0,1", help="Of the phones; default: what each architecture knows.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0.001, metavar="R", help="Readings of a phone in a second.")
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, metavar="N", help="Each point so often, each another day.")
    ] = 1,
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=1.0, metavar="S", help="That are measured, after the warm-up.")
    ] = None,
    drain: Annotated[
        float | None, typer.Option("--drain", min=1.0, metavar="S", help="At most, for what is on its way at the end.")
    ] = None,
    shards: Annotated[int, typer.Option("--shards", min=1, metavar="N", help="Data threads of a broker.")] = 2,
    bridges: Annotated[int, typer.Option("--bridges", min=1, metavar="N", help="Members of the bridge.")] = 1,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Gets charts, report.html, result.json and every log.")
    ] = _OUT,
    quick: Annotated[bool, typer.Option("--quick", help="Few phones, few seconds: shapes, no figures.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """From phones to the controller: architectures side by side, with more and more phones until something gives.

    a1: one broker, and the controller as one plain MQTT subscriber. a3-single: one broker, bridge members, a real
    Kafka, the controller on Spark. Everything runs as processes of this machine and is ended on Ctrl-C. Measures
    latency per hop, loss by place and reason, and what every process uses; `lapwing lab doctor` says what is missing.
    docs/lab.md says how and why. Exit code 1 when a process ended at a point.
    """
    from lapwing.lab.crowdsourcing import plan as plans
    from lapwing.lab.crowdsourcing.architecture import ARCHITECTURES, named
    from lapwing.lab.crowdsourcing.experiment import run_experiment
    from lapwing.lab.crowdsourcing.screen import Screen, print_tables
    from lapwing.pipeline.sinks.paths import check_folder

    plan = plans.Plan(
        tuple(map(named, architecture or ARCHITECTURES)),
        _numbers(devices, "--devices") if devices is not None else _that_fit(quick=quick),
        _numbers(qos, "--qos") if qos is not None else None,
        seeds,
        rate or plans.RATE_PER_S,
        seconds or (plans.QUICK_SECONDS if quick else plans.SECONDS),
        plans.QUICK_IDLE_S if quick else plans.IDLE_S,
        drain or plans.DRAIN_S,
        shards,
        bridges,
    )
    _check(plan)
    check_folder("--out", out)
    out.mkdir(parents=True, exist_ok=True)
    with Screen(plan, quiet=json) as screen:
        result = run_experiment(plan, out / "points", screen)
    files = _write(result, out)
    if json:
        echo_json(result.to_json())
    else:
        print_tables(result)
        typer.echo(f"open {files[-1].resolve().as_uri()}")
    return 0 if all(not row.ended for row in result.rows) else 1


def _numbers(text: str, where: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",") if part)
    except ValueError as error:
        raise ConfigError(f"{text!r} is no list of whole numbers", where=where, remedy="write 500,1000") from error


def _that_fit(*, quick: bool) -> tuple[int, ...]:
    """The usual numbers of phones, without those that this machine has no open files for."""
    from lapwing.lab.crowdsourcing.plan import DEVICES, QUICK_DEVICES
    from lapwing.lab.doctor import gathered, phones_max

    most = phones_max(gathered())
    return tuple(number for number in (QUICK_DEVICES if quick else DEVICES) if number <= most)


def _check(plan: Plan) -> None:
    """Raises `ConfigError` for what is missing on this machine, before anything starts."""
    from lapwing.lab.doctor import files_remedy, gathered, judged, phones_max

    facts = gathered()
    if plan.devices[-1] > phones_max(facts):
        what = f"{plan.devices[-1]:,} phones need more open files than the {facts.files_max:,} of a process"
        raise ConfigError(what, where="--devices", remedy=files_remedy(plan.devices[-1]))
    missing = [one for one in judged(facts, [each.name for each in plan.architectures]) if one.state == "missing"]
    if missing:
        where = f"--architecture {missing[0].needed_by[0]}"
        raise ConfigError(f"{missing[0].need}: {missing[0].found}", where=where, remedy=missing[0].remedy)


def _write(result: Result, out: Path) -> list[Path]:
    from lapwing.lab.crowdsourcing.page import write_report

    (out / "result.json").write_text(json_module.dumps(result.to_json(), indent=1) + "\n")
    return write_report(result, out)
