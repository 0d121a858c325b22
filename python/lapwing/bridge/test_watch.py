"""Is the operator told of the connection to the broker when it changes, and only then?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from lapwing.bridge.watch import Watch


@dataclass
class PlayedCounters:
    phase: str = "up"
    is_told: bool = True


class Bench:
    """A watch on a connection that is played."""

    def __init__(self) -> None:
        self.counters = PlayedCounters()
        self.said: list[str] = []
        self.watch = Watch("r", "tcp://b", lambda: cast("Any", self.counters), self.said.append, asks=True)

    def look(self, **changes: object) -> list[str]:
        for name, value in changes.items():
            setattr(self.counters, name, value)
        self.said.clear()
        self.watch.look()
        self.watch.look()
        return self.said


def test_gone_and_back() -> None:
    bench = Bench()
    assert bench.look() == []
    assert bench.look(phase="away") == ["rule r: the connection to the broker at tcp://b is gone"]
    assert bench.watch.away_s > 0
    assert not bench.watch.is_connected
    (back,) = bench.look(phase="up")
    assert "is back" in back
    assert (bench.watch.away_s, bench.watch.is_connected) == (0.0, True)


def test_what_is_told_no_more() -> None:
    """The right may be lost at a reconnection: keys and ids must not vanish without a word."""
    bench = Bench()
    bench.look(phase="away")
    assert "does not tell" in bench.look(phase="up", is_told=False)[-1]
    assert bench.look() == []
    assert "tells again" in bench.look(is_told=True)[-1]
