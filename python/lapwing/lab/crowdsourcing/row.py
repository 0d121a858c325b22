"""What was measured at a point, and at several seeds of it together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lapwing.lab.crowdsourcing.balance import Balance, summed
from lapwing.lab.crowdsourcing.clocks import END_TO_END, Latency, median_of
from lapwing.lab.crowdsourcing.knee import Measured
from lapwing.lab.crowdsourcing.schedule import Schedule
from lapwing.lab.crowdsourcing.watch import Stress

NOT_MEASURED = Schedule(0, 0, 0, 0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Row:
    """One point, or one number of phones over several seeds.

    Attributes:
        line: Title of architecture and QoS.
        seeds: Which; the balance is their sum, latencies and stress their medians.
        ended: Why it ended early; empty: it did not. Then nothing else counts.
        balance: Who had which readings.
        latency: By hop.
        schedule: How the generator kept its schedule: of the worst seed.
        stress: Of every process.
        answer: What the controller says.
        logs: Where the parts' logs are.
    """

    line: str
    architecture: str
    qos: int
    devices: int
    seeds: tuple[int, ...]
    ended: str = ""
    balance: Balance = field(default_factory=lambda: Balance(0, 0, {}))
    latency: Mapping[str, Latency] = field(default_factory=dict)
    schedule: Schedule = NOT_MEASURED
    stress: Sequence[Stress] = ()
    answer: Mapping[str, int] = field(default_factory=dict)
    logs: tuple[str, ...] = ()

    @property
    def thrown_away(self) -> str:
        """Why it does not count; empty: it does. What broke by itself counts."""
        return "" if self.ended else self.schedule.missed

    @property
    def p99_ms(self) -> float:
        """End to end; NaN where nothing arrived."""
        whole = self.latency.get(END_TO_END)
        return whole.p99_ms if whole else float("nan")

    def of(self, role: str) -> Stress | None:
        """The first process of a role."""
        return next((stress for stress in self.stress if stress.role == role), None)

    def measured(self) -> Measured:
        """As the rule of the knee looks at it."""
        return Measured(self.devices, self.ended, self.thrown_away, self.balance.due, self.balance.missing, self.p99_ms)

    def to_json(self) -> dict[str, Any]:
        """As ``result.json`` has it."""
        return {
            "line": self.line,
            "architecture": self.architecture,
            "qos": self.qos,
            "devices": self.devices,
            "seeds": list(self.seeds),
            "ended": self.ended,
            "thrown_away": self.thrown_away,
            "readings": self.balance.to_json() | {"controller": dict(self.answer)},
            "latency": {name: one.to_json() for name, one in self.latency.items()},
            "schedule": self.schedule.to_json(),
            "processes": [stress.to_json() for stress in self.stress],
            "logs": list(self.logs),
        }


def together(rows: Sequence[Row]) -> Row:
    """Rows of one number of phones with several seeds as one; the first that ended early speaks for all."""
    ended = next((row for row in rows if row.ended), None)
    if ended is not None or len(rows) == 1:
        return ended or rows[0]
    first, balance = rows[0], rows[0].balance
    for row in rows[1:]:
        balance = balance.plus(row.balance)
    names = first.answer
    return Row(
        first.line,
        first.architecture,
        first.qos,
        first.devices,
        tuple(seed for row in rows for seed in row.seeds),
        balance=balance,
        latency=median_of([row.latency for row in rows]),
        schedule=max((row.schedule for row in rows), key=lambda one: (one.missed_share, one.late_p99_ms)),
        stress=[_median([row.stress[index] for row in rows]) for index in range(len(first.stress))],
        answer={name: sum(row.answer.get(name, 0) for row in rows) for name in names},
        logs=tuple(log for row in rows for log in row.logs),
    )


def _median(runs: Sequence[Stress]) -> Stress:
    ordered = sorted(runs, key=lambda run: run.cpu)
    middle = ordered[len(ordered) // 2]
    told = [run.dropped for run in runs if run.dropped is not None]
    most = (max(run.rss_bytes for run in runs), max(run.queue for run in runs))
    return Stress(middle.name, middle.role, middle.cpu_idle, middle.cpu, *most, summed(told) if told else None)
