"""A strategy that chooses as it likes: anybody, nobody, somebody who is not there, late, or with an error."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from lapwing.strategy import Ask, Member, Strategy


class Whim(Strategy):
    """What no class should be; the group is to lose nothing by it."""

    def __init__(self) -> None:
        self.rng = random.Random(1)

    def choose(self, asks: Sequence[Ask]) -> Sequence[Member | str | None]:
        if self.rng.random() < 0.05:
            raise RuntimeError("not today")
        if self.rng.random() < 0.05:
            threading.Event().wait(0.02)
        return [self.rng.choice([*ask.members, None, "nobody"]) for ask in asks]
