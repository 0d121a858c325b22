"""What one run's messages met, and a policy's row over all seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.dispatch.intervals import BLOCK_S, Blocks, Figure, Floats
from lapwing.lab.dispatch.scenario import DEADLINE_MS
from lapwing.lab.dispatch.session import Books
from lapwing.lab.dispatch.trace import Trace

QUANTILES = (0.5, 0.99, 0.999)
FIGURES = ("mean_ms", "p50_ms", "p99_ms", "p999_ms", "missed_share", "duplicates_share")
"""The figures of a row, in order."""
LATENCY_FROM = "due"
"""What results say of themselves; in those that do not, latencies count from the moment of sending."""


@dataclass(frozen=True)
class Outcome:
    """One run, without its warm-up: one entry per message.

    Attributes:
        latency_ms: From the instant at which it was due to the first end of a handler: what a full window, or a slow
            publisher, held back is waiting, too. Of what had not ended when the run was cut, the time that it had
            waited until then: less than the truth.
        is_critical, has_ended: As the names say.
        extra_ends: How often a handler ended it beyond the first time.
        block: Which ``BLOCK_S`` of the run.
        conditions: How well the run kept to its plan: see ``_conditions``.
    """

    latency_ms: Floats
    is_critical: NDArray[np.bool_]
    has_ended: NDArray[np.bool_]
    extra_ends: NDArray[np.int64]
    block: NDArray[np.int64]
    conditions: dict[str, Any]


def outcome(trace: Trace, books: Books, warm_s: float) -> Outcome:
    """What the messages after the first ``warm_s`` met."""
    messages = len(trace.messages)
    order = np.argsort(books.handled["ended"], kind="stable")
    numbers, first = np.unique(books.handled["number"][order], return_index=True)
    ended = np.zeros(messages, np.int64)
    ended[numbers] = books.handled["ended"][order][first]
    ends = np.bincount(books.handled["number"], minlength=messages)
    latency_ms = (np.where(ended > 0, ended, books.cut_ns) - books.sent["due"]) / 1e6
    at_ms = trace.messages["at_ms"]
    kept = at_ms >= warm_s * 1e3
    return Outcome(
        latency_ms[kept],
        trace.messages["is_critical"][kept].astype(bool),
        ended[kept] > 0,
        np.maximum(0, ends - 1)[kept],
        ((at_ms[kept] - warm_s * 1e3) // (BLOCK_S * 1e3)).astype(np.int64),
        _conditions(books),
    )


def _conditions(books: Books) -> dict[str, Any]:
    """How late members, publisher and link were themselves, in microseconds, and what share of the cores it took."""
    handler_us = (books.handled["ended"] - books.handled["due"]) / 1e3
    return {
        "handler_late_us": _p50_p99(handler_us),
        "publisher_late_us": publisher_late_us(books.sent),
        "link_late_us": [books.link["late_p50_us"], books.link["late_p99_us"]],
        "cpu_s": {name: round(value, 3) for name, value in books.cpu_s.items()},
        "wall_s": round(books.wall_s, 3),
        "refused": books.publisher["refused"],
        "group": books.group,
        "per_member": np.bincount(books.members).tolist(),
    }


def publisher_late_us(sent: NDArray[Any]) -> list[float]:
    """Median and p99 of how long after they were due messages were sent, in microseconds; ``sent``: its records."""
    was_sent = sent["sent"] > 0
    return _p50_p99((sent["sent"] - sent["due"])[was_sent] / 1e3)


def _p50_p99(values: Any) -> list[float]:
    return [round(float(value), 1) for value in np.percentile(values, (50, 99))] if len(values) else [0.0, 0.0]


@dataclass(frozen=True)
class Row:
    """One policy, or one peer, at one load of one scenario, over all seeds.

    Attributes:
        figures: By the names in ``FIGURES``.
        unfinished: Messages that had not ended when their run was cut.
        latency_ms: Of every message, ascending; for pictures.
    """

    policy: str
    scenario: str
    load: float
    seeds: int
    messages: int
    unfinished: int
    figures: dict[str, Figure]
    conditions: list[dict[str, Any]]
    latency_ms: Floats

    def to_json(self) -> dict[str, Any]:
        """Each figure under its name, and its interval under ``NAME_interval``."""
        document: dict[str, Any] = {
            "policy": self.policy,
            "scenario": self.scenario,
            "load": self.load,
            "seeds": self.seeds,
            "messages": self.messages,
            "unfinished": self.unfinished,
        }
        for name, figure in self.figures.items():
            digits = 3 if name.endswith("_ms") else 6
            document[name] = round(figure.value, digits)
            document[f"{name}_interval"] = [round(figure.low, digits), round(figure.high, digits)]
        return document | {"runs": self.conditions}


def row(policy: str, scenario: str, load: float, outcomes: Sequence[Outcome], deadline_ms: float = DEADLINE_MS) -> Row:
    """The row of one run per seed; critical messages are missed after ``deadline_ms``."""
    count = max((int(one.block.max()) + 1 for one in outcomes if len(one.block)), default=1)
    block = np.concatenate([one.block + seed * count for seed, one in enumerate(outcomes)])
    blocks = Blocks(count * len(outcomes))
    latency = np.concatenate([one.latency_ms for one in outcomes])
    critical = np.concatenate([one.is_critical for one in outcomes])
    extra = np.concatenate([one.extra_ends for one in outcomes])
    unfinished = sum(int((~one.has_ended).sum()) for one in outcomes)
    every = np.ones(len(latency), bool)
    figures = [
        *blocks.latencies(block, latency, QUANTILES),
        blocks.shares(block, latency > deadline_ms, critical),
        blocks.shares(block, extra > 0, every),
    ]
    return Row(
        policy,
        scenario,
        load,
        len(outcomes),
        len(latency),
        unfinished,
        dict(zip(FIGURES, figures, strict=True)),
        [one.conditions for one in outcomes],
        np.sort(latency),
    )
