"""What processes of the experiment write down, and the clock by which.

Standard library only.
"""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path

PAYLOAD = struct.Struct("<Id")
"""What a message says: its number in the trace, its work."""
HANDLED = struct.Struct("<IIqqq")
"""One end of a handler: number, flags, and in nanoseconds of the monotonic clock arrival, due end, real end."""
IS_DUP, IS_ACKNOWLEDGED = 1, 2
"""Flags: the PUBLISH had DUP set; the PUBACK was sent (not if the connection was lost meanwhile)."""
SENT = struct.Struct("<qq")
"""One message of the publisher: when it was due, when it was sent; 0: never."""


class Clock:
    """Milliseconds of the trace.

    Args:
        start_ns: The trace's 0 on the monotonic clock.
    """

    def __init__(self, start_ns: int) -> None:
        self.start_ns = start_ns

    def now_ms(self) -> float:
        """Now; negative before the start."""
        return (time.monotonic_ns() - self.start_ns) / 1e6

    def ns(self, at_ms: float) -> int:
        """An instant of the trace on the monotonic clock."""
        return self.start_ns + int(at_ms * 1e6)


class Tally:
    """One byte per message in a file that all members map: how often a handler has ended it, 255 at most.

    The one who waits for the end of a run, and the progress bar, look here; the result comes from the records. Two
    members that end the same message in the same instant may count one: the records do not.
    """

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._bytes = mmap.mmap(file.fileno(), 0)

    def count(self, number: int) -> None:
        """One more end of message ``number``."""
        self._bytes[number] = min(255, self._bytes[number] + 1)

    def ended(self) -> int:
        """Messages that were ended at least once."""
        return len(self._bytes) - self._bytes[:].count(0)
