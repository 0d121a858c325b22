"""What a supervisor is told: systemd's protocol of readiness, over a datagram socket that it names in the environment.

Without such a socket nothing is sent, and nothing is wrong.
Source: https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping

_SIGNS = 3
"""Signs of life in the time that the watchdog waits for one."""
_TURN_S = 5.0
"""An idle thread turns once a second; a busy machine has it wait."""


class Supervisor:
    """Who started this process, if that one wants to hear.

    Args:
        environment: Where ``NOTIFY_SOCKET``, ``WATCHDOG_USEC`` and ``WATCHDOG_PID`` may stand; None: the process's.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        given = os.environ if environment is None else environment
        self._address = given.get("NOTIFY_SOCKET", "")
        self._watchdog_s = _watchdog_s(given) if self._address else 0.0
        self._alive_at = 0.0

    @property
    def turn_s(self) -> float:
        """Within so many seconds every thread has to have gone on, for a sign of life."""
        return max(self._watchdog_s / _SIGNS, _TURN_S)

    def starting(self, status: str) -> None:
        """It is on its way; a start that reads much must not be taken for one that hangs."""
        self._tell(f"STATUS={status}", "EXTEND_TIMEOUT_USEC=60000000")

    def ready(self, status: str = "") -> None:
        """Clients can connect, or again after a reload."""
        self._tell("READY=1", f"STATUS={status}")

    def reloading(self) -> None:
        """Users, rules and certificates are read again."""
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def alive(self) -> None:
        """Whoever calls this has just found all well; it is passed on as often as the watchdog needs."""
        now = time.monotonic()
        if self._watchdog_s and now - self._alive_at >= self._watchdog_s / _SIGNS:
            self._alive_at = now
            self._tell("WATCHDOG=1")

    def stopping(self) -> None:
        """The end has begun."""
        self._tell("STOPPING=1", "STATUS=draining")

    def _tell(self, *lines: str) -> None:
        if not self._address:
            return
        # An abstract socket is written with an @.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as teller:
            try:
                teller.sendto("\n".join(lines).encode(), address)
            except OSError:
                # A supervisor that does not listen has its own way to find out; the broker goes on.
                return


def _watchdog_s(given: Mapping[str, str]) -> float:
    """How long the supervisor waits for a sign of life; 0: it waits for none."""
    try:
        is_meant = int(given.get("WATCHDOG_PID", os.getpid())) == os.getpid()
        return int(given.get("WATCHDOG_USEC", "0")) / 1e6 if is_meant else 0.0
    except ValueError:
        return 0.0
