"""What a run has shown."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Faults that were done, and what became of the messages."""

    seconds: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    """How often each was done, by name."""
    acknowledged: int = 0
    """Messages that the broker has acknowledged to their publishers."""
    records: int = 0
    """Of the topic."""
    lost: int = 0
    """Acknowledged, and in no record."""
    repeated_by_bridge: int = 0
    """Records whose message id was there before: consumers drop them by it."""
    repeated_by_publishers: int = 0
    """Messages that the broker took in twice, because it was killed before its acknowledgement arrived."""
    findings: list[str] = field(default_factory=list)
    """What is not as it must be; empty after a good run."""

    def did(self, fault: str) -> None:
        """Counts one."""
        self.faults[fault] = self.faults.get(fault, 0) + 1

    @property
    def repeated(self) -> int:
        """Records that a table must not count again."""
        return self.repeated_by_bridge + self.repeated_by_publishers
