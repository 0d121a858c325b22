"""How large a run of the MQTT-SN benchmark is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Clients, seconds and rounds."""

    rounds: int = 4
    """Rounds in which the subjects of a table take turns."""
    seconds: float = 15.0
    """Of each run under load; with four rounds a minute of each."""
    pairs: tuple[int, ...] = (25, 100, 400, 1000)
    """Publishers, and as many subscribers; the total rate is the same for all."""
    sleepers: int = 5_000
    sleep_s: float = 60.0
    """All awake once within so long, after as long again."""
    messages: int = 100
    """For each sleeper."""
    idle: int = 5_000

    def check(self) -> None:
        """Refuses sizes that measure nothing.

        Raises:
            ValueError: One of them is not positive.
        """
        for name in ("rounds", "seconds", "sleepers", "sleep_s", "messages", "idle"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}: give more than 0")
        if not self.pairs or min(self.pairs) <= 0:
            raise ValueError(f"pairs are {self.pairs}: give one number or more, each above 0")


QUICK = Sizes(rounds=1, seconds=1.0, pairs=(25, 100), sleepers=200, sleep_s=2.0, messages=20, idle=500)
