"""Do commands pay? The same fleet, walks and number of messages, without and with a controller."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lapwing.broker import Broker
from lapwing.controller import MqttWires
from lapwing.lab.directed.play import Played, play_apart
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.report.freshness_facts import FreshnessFacts, freshness_facts
from lapwing.pipeline.report.freshness_picture import draw_freshness
from lapwing.pipeline.report.tables import read

WITHOUT, WITH = "without commands", "with commands"
STREAM = "readings"
_CATCH_UP_S = 300.0
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class DirectedPlan:
    """What to compare; the arguments of ``lapwing lab run commands``."""

    out: Path
    devices: int = 150
    seconds: float = 180.0
    rate_hz: float = 1 / 15
    seed: int = 1
    fresh_s: float = 30.0
    samples_wanted: int = 3
    trigger_s: float = 1.0

    def settings(self) -> dict[str, str]:
        """Of the job, for places that are fresh for seconds, not minutes."""
        return {
            "lapwing.fresh_s": str(self.fresh_s),
            "lapwing.samples_wanted": str(self.samples_wanted),
            "lapwing.position_s": str(2 / self.rate_hz),
            "lapwing.expire_s": str(max(5.0, self.fresh_s / 2)),
            "lapwing.rest_s": str(self.fresh_s / 2),
        }


@dataclass(frozen=True, slots=True)
class DirectedResult:
    """What came of it."""

    share_without: float
    share_with: float
    ratio: float
    """Of the mean shares of fresh places."""
    ratio_second_half: float
    """The same of the second half: what phones send ahead at first they lack then."""
    readings_without: int
    readings_with: int
    commands: int
    states: Mapping[str, int]
    executed: int
    executed_twice: int
    reach_p50_ms: float | None
    """From the commit of a command's row to its device."""
    reach_p95_ms: float | None
    batch_p50_s: float | None
    behind_s: float
    """By how much the phones with commands missed their schedule, at worst."""


def run_directed(plan: DirectedPlan, told: Told = lambda _: None) -> DirectedResult:
    """Runs both; ``plan.out`` then holds ``without``, ``with``, ``freshness.png`` and ``result.json``.

    Raises:
        LapwingError: no Java, a folder that cannot be written, or a failure of a part.
    """
    folders = {WITHOUT: plan.out / "without", WITH: plan.out / "with"}
    _play(plan, folders[WITHOUT], None, told)
    played, batches = _play(plan, folders[WITH], "controller", told)
    facts = freshness_facts(folders, fresh_s=plan.fresh_s, samples_wanted=plan.samples_wanted)
    draw_freshness(facts, plan.out / "freshness.png")
    result = _result(facts, played, read(folders[WITH], "commands").to_pylist(), batches)
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
