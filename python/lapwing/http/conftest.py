"""Time for what bounds guessing over HTTP."""

from __future__ import annotations

import pytest

from lapwing.http import attempts, known


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Seconds, as of the module that it stands for."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What failed attempts and known callers take for the time."""
    clock = Clock()
    monkeypatch.setattr(attempts, "time", clock)
    monkeypatch.setattr(known, "time", clock)
    return clock
