"""journald's own protocol: entries with fields, which ``journalctl LAPWING_SUBJECT=refused`` finds.

Source: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lapwing.errors import ConfigError
from lapwing.log.standard_error import StandardError
from lapwing.text import one_line

SOCKET = "/run/systemd/journal/socket"
_SEND_TIMEOUT_S = 1.0
_NO_FACTS: Mapping[str, Any] = MappingProxyType({})
_PRIORITIES = {"error": 3, "warning": 4, "notice": 5, "info": 6}


class Journal:
    """A socket to journald.

    Args:
        path: Where it listens.

    Raises:
        ConfigError: nobody does.
    """

    def __init__(self, path: str = SOCKET) -> None:
        self._path = path
        self._otherwise = StandardError()
        self._is_silent = False
        try:
            self._socket = _connected(path)
        except OSError as error:
            remedy = 'take format = "text", which journald reads from standard error'
            raise ConfigError(f"no journald listens: {error.strerror}", where=path, remedy=remedy) from error

    def write(self, level: str, subject: str, text: str, facts: Mapping[str, Any] = _NO_FACTS) -> None:
        """One entry; facts are fields as ``LAPWING_CLIENT_ID``.

        While journald is away or takes nothing, its text goes to standard error: that ends no broker. It is waited for
        once, and no more until it takes something: there are signals to hear, and a supervisor to tell of life.
        """
        fields = {
            "MESSAGE": text,
            "PRIORITY": str(_PRIORITIES.get(level, 6)),
            "SYSLOG_IDENTIFIER": "lapwing",
            "LAPWING_SUBJECT": subject,
            **{f"LAPWING_{name.upper()}": one_line(str(fact)) for name, fact in facts.items() if fact is not None},
        }
        try:
            self._send(entry(fields))
        except OSError:
            self._otherwise.write(text)

    def _send(self, datagram: bytes) -> None:
        try:
            self._socket.settimeout(0.0 if self._is_silent else _SEND_TIMEOUT_S)
            self._socket.send(datagram)
            self._is_silent = False
        except (TimeoutError, BlockingIOError):
            self._is_silent = True
            raise
        except OSError:  # it was started again, with a socket of its own
            self._socket.close()
            self._socket = _connected(self._path)
            self._socket.send(datagram)


def _connected(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.settimeout(_SEND_TIMEOUT_S)
    try:
        made.connect(path)
    except OSError:
        made.close()
        raise
    return made


def entry(fields: Mapping[str, str]) -> bytes:
    """Fields as one datagram; a value of several lines with its length before it."""
    parts = []
    for name, text in fields.items():
        value = text.encode(errors="backslashreplace")
        head = name.encode()
        parts.append(
            head + b"\n" + struct.pack("<Q", len(value)) + value + b"\n"
            if b"\n" in value
            else head + b"=" + value + b"\n"
        )
    return b"".join(parts)


def is_standard_error(stream: str | None = None, descriptor: int = 2) -> bool:
    """Whether standard error is the stream that systemd has connected to journald, as ``JOURNAL_STREAM`` names it."""
    named = os.environ.get("JOURNAL_STREAM", "") if stream is None else stream
    device, _, inode = named.partition(":")
    try:
        found = os.fstat(descriptor)
        return (found.st_dev, found.st_ino) == (int(device), int(inode))
    except (OSError, ValueError):
        return False
