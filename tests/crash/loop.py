"""All clients of a round in one thread: what happens, happens in one order."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from .device import Device

_IDLE_S = 0.002


class Loop:
    """Lets clients read and write."""

    def __init__(self) -> None:
        self.devices: list[Device] = []

    def pump(self) -> None:
        """Once around; waits for a moment when there is nothing."""
        lines = {device.line.socket: device for device in self.devices if device.line}
        writing = [socket for socket, device in lines.items() if device.line and device.line.waits]
        readable, writable, _ = select.select(list(lines), writing, [], _IDLE_S)
        for socket in writable:
            if (line := lines[socket].line) is not None:
                line.flush()
        for socket in readable:
            lines[socket].pump()

    def until(
        self, seconds: float, what: str, is_so: Callable[[], bool], act: Callable[[], None] = lambda: None
    ) -> None:
        """Goes around until it is so; before each time everybody may act.

        Raises:
            TimeoutError: it is not so in time; says what.
        """
        deadline = time.monotonic() + seconds
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: not within {seconds:g} s")
            act()
            self.pump()

    def until_quiet(self, quiet_s: float, seconds: float, count: Callable[[], int]) -> None:
        """Goes around until the count has stayed the same for so long.

        Raises:
            TimeoutError: it goes on.
        """
        before, since = count(), time.monotonic()

        def is_quiet() -> bool:
            nonlocal before, since
            if (now := count()) != before:
                before, since = now, time.monotonic()
            return time.monotonic() - since > quiet_s

        self.until(seconds, f"{quiet_s:g} s of quiet", is_quiet)

    def hear_last_words(self, seconds: float) -> None:
        """What the broker had said before it went may still lie in the sockets."""
        self.until(seconds, "the end of all connections", lambda: not any(one.line for one in self.devices))
