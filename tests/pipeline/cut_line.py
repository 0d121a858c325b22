"""A line to a broker that can be cut and mended; both of its ends are open in between, and hear nothing."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Line:
    """Carries bytes to ``port``; used as a context manager.

    Attributes:
        port: Where to connect.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._is_cut = False

    def cut(self) -> None:
        """Breaks what is connected; who comes is sent away."""
        with self._lock:
            self._is_cut = True
            for end in self._ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._ends.clear()

    def mend(self) -> None:
        """Who comes is connected again."""
        with self._lock:
            self._is_cut = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError), self._listener:
            while True:
                near, _ = self._listener.accept()
                with self._lock:
                    if self._is_cut:
                        near.close()
                        continue
                    far = socket.create_connection(("127.0.0.1", self._to))
                    self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=_carry, args=(one, other), daemon=True).start()


def _carry(one: socket.socket, other: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)
