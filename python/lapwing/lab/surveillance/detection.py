"""What a detection and an alarm say, and how processes of the scene count them.

Standard library only.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass

HEARD = struct.Struct("<Iq")
"""One alarm at the guard: its number, when on the monotonic clock, in nanoseconds."""


@dataclass(frozen=True)
class Detection:
    """Something moved.

    Attributes:
        number: Which of the day.
        work: What it takes to look closer, in images of average size.
        shows_intruder: What will be found; a real camera would send the image.
    """

    number: int
    sensor: str
    work: float
    shows_intruder: bool

    def to_bytes(self) -> bytes:
        """JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, payload: bytes) -> Detection:
        """What ``to_bytes`` made."""
        return cls(**json.loads(payload))


def alarm(detection: Detection) -> tuple[str, bytes]:
    """Topic, below the root of its run, and payload of the alarm that a detection becomes."""
    return f"alarms/{detection.sensor}", json.dumps({"number": detection.number, "sensor": detection.sensor}).encode()
