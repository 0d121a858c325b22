"""One round: a plan is lived, crash by crash; then everything that was promised has to come."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

from .books import Books
from .crew import PATIENCE_S, Crew
from .machine import Machine
from .outcome import Outcome, lived
from .plan import Plan
from .power import PowerCut
from .settling import Settling


class Round:
    """A plan, the broker and its clients.

    Args:
        folder: New, empty; stays as the round leaves it.
        power: What takes back unsynced changes, where a life ends with the machine's.
        groups: Groups and the hold keep their messages over a crash.
        patience_s: So long what is promised may be on its way.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        power: PowerCut | None = None,
        *,
        groups: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.plan = plan
        self._machine = Machine(folder, plan.settings(), power)
        self._crew = Crew(plan, self._machine, groups=groups, patience_s=patience_s)
        self._random = Random(plan.seed ^ 0xD1E)
        self._outcome = Outcome(plan.seed, plan.shards)

    @property
    def books(self) -> Books:
        """Of all clients."""
        return self._crew.books

    def run(self) -> Outcome:
        """Lives the plan."""
        return lived(self._live, self._crew, self._outcome)

    def _live(self) -> None:
        try:
            for life in self.plan.lives:
                self._start()
                self._crew.work(life.messages, life.delay_s)
                self._crash(power=life.power)
                time.sleep(life.down_s)
            self._start()
            Settling(self._crew).settle()
        finally:
            if self._machine.is_up:
                self._crash(power=False)

    def _start(self) -> None:
        self._machine.start()
        self.books.tell(f"the broker is up at {self._machine.url}")
        self._crew.compare()

    def _crash(self, *, power: bool) -> None:
        self.books.tell("the power goes" if power else "the broker is killed")
        words = self._machine.go_down(self._random, power=power)
        self._outcome.crashes += 1
        if self._machine.power:
            self._outcome.lost_changes += self._machine.power.lost_changes
        for word in words:
            self.books.find(f"the broker said: {word}")
        self._crew.hear_last_words()
