"""Do commands pay? The same fleet, walks and number of messages, without and with a controller."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lapwing.broker import Broker
from lapwing.controller import MqttWires
from lapwing.lab.directed.page import write_report
from lapwing.lab.directed.play import Played, play_apart
from lapwing.lab.directed.result import DirectedPlan, DirectedResult
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.report.freshness_facts import FreshnessFacts, freshness_facts
from lapwing.pipeline.report.tables import read

WITHOUT, WITH = "without commands", "with commands"
STREAM = "readings"
_CATCH_UP_S = 300.0
Told = Callable[[str], None]


def run_directed(plan: DirectedPlan, told: Told = lambda _: None) -> DirectedResult:
    """Runs both; ``plan.out`` then holds ``without``, ``with``, ``freshness.png``, ``report.html`` and ``result.json``.

    Raises:
        LapwingError: no Java, a folder that cannot be written, or a failure of a part.
    """
    folders = {WITHOUT: plan.out / "without", WITH: plan.out / "with"}
    _play(plan, folders[WITHOUT], None, told)
    played, batches = _play(plan, folders[WITH], "controller", told)
    facts = freshness_facts(folders, fresh_s=plan.fresh_s, samples_wanted=plan.samples_wanted)
    result = _result(facts, played, read(folders[WITH], "commands").to_pylist(), batches)
    write_report(plan, facts, result)
    (plan.out / "result.json").write_text(json.dumps({"plan": _arguments(plan), **asdict(result)}, indent=1) + "\n")
    return result


def _play(plan: DirectedPlan, out: Path, controller: str | None, told: Told) -> tuple[Played, list[float]]:
    batches: list[float] = []
    name = WITH if controller else WITHOUT
    with ExitStack() as stack:
        streams = {STREAM: {"filter": "spectrum/+/readings", "partitions": 2, "key": "client"}}
        broker = stack.enter_context(Broker(streams=streams, http="127.0.0.1:0"))
        source = f"{broker.http_url}/v1/streams/{STREAM}"
        job: CoverageJob
        if controller:
            job = ControllerJob(
                source,
                out,
                wires=MqttWires(broker.url, controller),
                trigger=plan.trigger_s,
                conf=plan.settings(),
                progress=lambda batch: batches.append(batch.seconds),
            )
        else:
            job = CoverageJob(source, out, trigger=plan.trigger_s)
        job.start()
        stack.callback(job.stop)
        told(name)
        debt_max = plan.samples_wanted
        played = play_apart(broker.url, plan.devices, plan.seconds, plan.rate_hz, plan.seed, debt_max)
        job.wait_caught_up(_CATCH_UP_S)
    return played, batches


def _result(
    facts: FreshnessFacts | None, played: Played, commands: list[dict[str, Any]], batches: list[float]
) -> DirectedResult:
    assert facts is not None  # every device sends
    without, with_ = facts.runs
    executed, arrived = played.executed, played.arrived_us
    reach_ms = sorted(
        arrived[row["id"]] / 1e3 - row["committed_at"].timestamp() * 1e3 for row in commands if row["id"] in arrived
    )
    return DirectedResult(
        share_without=without.mean,
        share_with=with_.mean,
        ratio=_ratio(with_.mean, without.mean),
        ratio_second_half=_ratio(with_.mean_of_second_half, without.mean_of_second_half),
        readings_without=without.readings,
        readings_with=with_.readings,
        commands=len(commands),
        states=with_.states,
        executed=len(executed),
        executed_twice=len(executed) - len(set(executed)),
        reach_p50_ms=_rank(reach_ms, 0.5),
        reach_p95_ms=_rank(reach_ms, 0.95),
        batch_p50_s=_rank(sorted(batches), 0.5),
        behind_s=played.behind_s,
    )


def _ratio(with_: float, without: float) -> float:
    return with_ / without if without else float("inf")


def _rank(ordered: list[float], share: float) -> float | None:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def _arguments(plan: DirectedPlan) -> dict[str, Any]:
    return {**asdict(plan), "out": str(plan.out)}
