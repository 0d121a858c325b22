"""What a peer has yet to take of what it was written, and the clock that asks it to.

``TCP_USER_TIMEOUT`` is content with a byte now and then, so a peer could hold a connection, and the answer in memory,
for as long as it liked. Here it takes ``PROGRESS_BYTES`` in each time, or all there is. The kernel's queue counts too:
it is refilled a third at a time, and a fair but slow peer would seem to take nothing between.
"""

from __future__ import annotations

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable

PROGRESS_BYTES = 256 << 10


class Unsent:
    """Bytes written to one connection and not taken yet.

    Args:
        transports: The connection's, from the application down to the socket: of TLS there are two.
    """

    def __init__(self, *transports: asyncio.Transport) -> None:
        self._transports = transports

    def here(self) -> int:
        """Those that the kernel has not got: they keep the connection, even one that is closed."""
        *above, socket = self._transports
        # asyncio's TLS knows nothing any more once it was closed twice; what it had is the socket's by then, or lost.
        return sum(transport.get_write_buffer_size() for transport in above if not transport.is_closing()) + (
            socket.get_write_buffer_size()
        )

    def all(self) -> int:
        """Those, and what waits in the kernel for the peer to acknowledge it."""
        return self.here() + _in_kernel(self._transports[-1])


class WritingClock:
    """Runs while something waits for one peer; used by the event loop's thread only.

    Args:
        timeout_s: The time in which some of it must be taken.
        late: Called once, where it was not.
    """

    def __init__(self, unsent: Unsent, timeout_s: float, late: Callable[[], None]) -> None:
        self._unsent = unsent
        self._timeout_s = timeout_s
        self._late = late
        self._handle: asyncio.TimerHandle | None = None
        self._before = 0

    def start(self) -> None:
        """From now on, unless it runs already."""
        if self._handle is None:
            self._before = self._unsent.all()
            self._handle = asyncio.get_running_loop().call_later(self._timeout_s, self._look)

    def stop(self) -> None:
        """Nothing waits any more, or what does is about to be more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _look(self) -> None:
        self._handle = None
        if self._unsent.here() == 0:
            return
        if self._before - self._unsent.all() < min(PROGRESS_BYTES, self._before):
            self._late()
            return
        self.start()


def _in_kernel(transport: asyncio.Transport) -> int:
    socket = transport.get_extra_info("socket")
    try:
        return int(struct.unpack("i", fcntl.ioctl(socket.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0])
    except (OSError, ValueError):
        return 0  # it is closed
