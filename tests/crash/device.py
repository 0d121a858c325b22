"""A client with a memory: what it has not seen finished it takes up again when it comes back."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod

import wire
from wire import CONNACK, DISCONNECT, Packet

from .books import Books
from .line import Line


class Device(ABC):
    """One client id.

    Attributes:
        line: Its connection.
        is_there: The broker has taken it in.
        is_promised: The broker has said that it has the session, which outlives connections.
    """

    def __init__(self, name: str, version: int, books: Books, *, expiry_s: int, window: int = 65_535) -> None:
        self.name = name
        self.books = books
        self.line: Line | None = None
        self.is_there = False
        self.is_promised = False
        self._version = version
        self._expiry_s = expiry_s
        self._window = window
        self._is_clean = False

    def connect(self, url: str, *, clean: bool = False) -> None:
        """Begins to; a broker that is not there is tried again later."""
        try:
            self.line = Line(url, self._version)
        except OSError:
            return
        self._is_clean = clean or not self._expiry_s
        self.line.send(self._connect())

    def _connect(self) -> bytes:
        """The packet."""
        properties = b"\x11" + struct.pack("!I", self._expiry_s) + b"\x21" + struct.pack("!H", self._window)
        if self._version != 5:
            properties = b""
        return wire.connect(self.name, version=self._version, clean=self._is_clean, properties=properties)

    def leave(self) -> None:
        """Says goodbye."""
        if self.line:
            self.line.send(wire.DISCONNECT_NORMAL)
            self.vanish()

    def vanish(self) -> None:
        """Ends the connection without a word."""
        if self.line:
            self.line.close()
        self.line, self.is_there = None, False

    def pump(self) -> None:
        """Takes what has come, and answers."""
        if not self.line:
            return
        line = self.line
        for packet in line.arrivals():
            self._receive(packet)
        if line is self.line and line.is_over:
            self.vanish()

    def _receive(self, packet: Packet) -> None:
        if packet.kind == CONNACK:
            self._begin(packet)
        elif packet.kind == DISCONNECT:
            self._refused(f"{self.name} was sent away: 0x{packet.reason:02x}", packet.reason)
        elif not self._handle(packet):
            self.books.find(f"{self.name} got a packet of type {packet.kind}")

    def _begin(self, packet: Packet) -> None:
        is_present = bool(packet.body[0] & 1)
        self.books.tell(f"{self.name} is there, session present: {is_present}")
        if packet.reason:
            self._refused(f"{self.name} was refused: 0x{packet.reason:02x}", packet.reason)
            return
        if is_present and self._is_clean:
            self.books.find(f"{self.name} began anew and has a session")
        if self.is_promised and not is_present and not self._is_clean:
            self.books.find(f"the session of {self.name} is gone")
        self.is_there, self.is_promised = True, bool(self._expiry_s)
        self._resume(is_present=is_present)

    def _refused(self, what: str, reason: int) -> None:
        if reason in self.books.excused:
            self.books.tell(what)
        else:
            self.books.find(what)

    def _send(self, *packets: bytes) -> None:
        if self.line:
            self.line.send(*packets)

    @abstractmethod
    def _resume(self, *, is_present: bool) -> None:
        """Goes on from what it remembers, or forgets it."""

    @abstractmethod
    def _handle(self, packet: Packet) -> bool:
        """Whether it is a packet that may come."""
