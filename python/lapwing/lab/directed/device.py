"""One device that obeys: a pure machine. Times are microseconds since the epoch."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from lapwing.contracts.commands import Answer, Command, Measure, Rate, Refusal, Registration, State

SECOND_US = 1_000_000
REMEMBERED_MAX = 1_000
"""Ids of commands that a device remembers; far more than may be under way at a time."""
BATTERY_MIN = 0.05
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Memory:
    """What survives a reboot: the last answer to each command, the oldest forgotten first."""

    answers: OrderedDict[str, Answer] = field(default_factory=OrderedDict)

    def keep(self, answer: Answer) -> Answer:
        """Remembers it as the last one of its command."""
        self.answers[answer.id] = answer
        self.answers.move_to_end(answer.id)
        while len(self.answers) > REMEMBERED_MAX:
            self.answers.popitem(last=False)
        return answer


@dataclass(frozen=True, slots=True)
class Sample:
    """Something to measure now; ``channel`` is None for whatever the device hears."""

    network: str | None = None
    channel: int | None = None


@dataclass
class _Task:
    command: Command
    order: Measure
    left: int
    next_us: float
    taken: int = 0


class DirectedDevice:
    """A device with a rate of its own, a budget, and at most one command at work.

    Args:
        name: Its name.
        networks: What it can measure.
        rate_hz: Its usual rate.
        budget: Readings of the whole run: as many as its rate makes in it.
        first_us: When the first one is due, after `begin`.
        debt_max: So many readings it sends ahead of its own schedule, at most; then it refuses until it has caught up.
        memory: What it remembers from before a reboot.
        battery: Its charge.
    """

    def __init__(
        self,
        name: str,
        networks: tuple[str, ...],
        rate_hz: float,
        budget: int,
        first_us: int,
        *,
        debt_max: int = 6,
        memory: Memory | None = None,
        battery: float = 1.0,
    ) -> None:
        self.name, self.networks = name, networks
        self.memory = memory or Memory()
        self.battery = battery
        self.sent = 0
        """Readings so far."""
        self.executed: list[str] = []
        """Ids of the commands that were begun, in order."""
        self._usual_hz = self._rate_hz = rate_hz
        self.budget, self._debt, self._debt_max = budget, 0, debt_max
        self._next_us = float(first_us)
        self._task: _Task | None = None

    def begin(self, start_us: int) -> None:
        """Its schedule starts at ``start_us``."""
        self._next_us += start_us

    def registration(self, *, present: bool = True) -> Registration:
        """What it says of itself; with ``present`` False its last will."""
        return Registration(
            self.name, present, self.networks, None, self._usual_hz, 10.0, self._state("") if present else State()
        )

    def hear(self, command: Command, now_us: int, tile: str) -> list[Answer]:
        """Takes a command; gives the answers to send. One that it has had before it only answers again."""
        if command.device != self.name:
            return []
        known = self.memory.answers.get(command.id)
        if known is not None:
            return [known]
        refusal = self._refusal(command, now_us, tile)
        if refusal:
            return [self._answer(command, "refused", now_us, tile, reason=refusal)]
        # Remembered before it is begun: after a reboot in between it is not begun again.
        begun = self._answer(command, "acknowledged", now_us, tile)
        self.executed.append(command.id)
        order = command.order
        if isinstance(order, Measure):
            wanted = max(1, round(order.seconds * order.rate_hz))
            self._task = _Task(command, order, wanted, float(now_us))
            return [begun]
        if isinstance(order, Rate):
            self._rate_hz = order.rate_hz
            self._next_us = now_us + SECOND_US / order.rate_hz
        return [begun, self._answer(command, "done", now_us, tile)]

    def measure(self, now_us: int, tile: str) -> tuple[list[Sample], list[Answer]]:
        """What is due by now, on command and on its own schedule, and the answers that follow from it."""
        samples, answers = self._on_command(now_us, tile)
        while self._next_us <= now_us and self.sent < self.budget:
            self._next_us += SECOND_US / self._rate_hz
            if self._debt:
                self._debt -= 1  # sent before, on command
            else:
                samples.append(Sample())
                self.sent += 1
        return samples, answers

    def _on_command(self, now_us: int, tile: str) -> tuple[list[Sample], list[Answer]]:
        task, samples = self._task, []
        if task is None:
            return [], []
        while task.left and task.next_us <= now_us and tile == task.order.tile and self._may_send > 0:
            samples.append(Sample(task.order.network, task.order.channel))
            task.left, task.taken = task.left - 1, task.taken + 1
            task.next_us += SECOND_US / task.order.rate_hz
            self.sent, self._debt = self.sent + 1, self._debt + 1
        if task.left and tile == task.order.tile and self._may_send > 0:
            return samples, []
        self._task = None
        return samples, [self._answer(task.command, "done", now_us, tile, readings=task.taken)]

    def _refusal(self, command: Command, now_us: int, tile: str) -> Refusal | None:
        if now_us > command.expires_at.timestamp() * 1e6:
            return "too_late"
        order = command.order
        if not isinstance(order, Measure):
            return None
        checks: tuple[tuple[Refusal, bool], ...] = (
            ("busy", self._task is not None),
            ("not_there", order.tile != tile),
            ("cannot", order.network is not None and order.network not in self.networks),
            ("low_battery", self.battery < BATTERY_MIN),
            ("no_budget", self._may_send < 1),
        )
        return next((reason for reason, holds in checks if holds), None)

    @property
    def _may_send(self) -> int:
        return min(self.budget - self.sent, self._debt_max - self._debt)

    def _state(self, tile: str) -> State:
        return State(round(self.battery, 3), tile or None, self._rate_hz, max(0, self._may_send))

    def _answer(self, command: Command, outcome: str, now_us: int, tile: str, **more: object) -> Answer:
        made: Answer = Answer(
            command.id,
            self.name,
            _EPOCH + timedelta(microseconds=now_us),
            outcome,  # type: ignore[arg-type]
            state=self._state(tile),
            **more,  # type: ignore[arg-type]
        )
        return self.memory.keep(made)
