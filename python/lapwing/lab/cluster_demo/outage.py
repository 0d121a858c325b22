"""What one kill costs: for how long nobody is served. Pure: times are arguments, in seconds of one clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Outage:
    """From the kill to the last client that is back.

    Attributes:
        killed: The node.
        killed_at_s: Right before the signal.
        successor: The node that gave the first CONNACK.
        connack_s: From the kill to the first CONNACK that goes on with a kept session.
        acknowledged_s: From the kill to the first PUBACK or PUBREC of the next node.
        all_back_s: From the kill to when all clients are connected again.
        caught_up_s: From the kill to when the killed node, started again, lacks nothing that counts.
    """

    killed: str
    killed_at_s: float
    successor: str = ""
    connack_s: float | None = None
    acknowledged_s: float | None = None
    all_back_s: float | None = None
    caught_up_s: float | None = None

    def connected(self, node: str, now_s: float, *, is_present: bool) -> None:
        """A client has its CONNACK."""
        if self.connack_s is None and is_present and node != self.killed:
            self.connack_s, self.successor = now_s - self.killed_at_s, node

    def acknowledged(self, node: str, now_s: float) -> None:
        """A publisher has an acknowledgement; one of the killed node's may still be on its way."""
        if self.acknowledged_s is None and node != self.killed:
            self.acknowledged_s = now_s - self.killed_at_s

    def all_connected(self, now_s: float) -> None:
        """Everybody is back."""
        if self.all_back_s is None and self.connack_s is not None:
            self.all_back_s = now_s - self.killed_at_s

    @property
    def is_over(self) -> bool:
        """Whether everybody is back and publishes."""
        return self.acknowledged_s is not None and self.all_back_s is not None
