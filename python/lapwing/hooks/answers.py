"""What a hook answers with, beside None (no objection) and a changed copy of its argument."""

from __future__ import annotations

import msgspec


class Refuse(msgspec.Struct, frozen=True):
    """No. The client of MQTT 5.0 is told the reason code; one of 3.1.1 what its version has words for.

    Raises:
        ValueError: ``reason_code`` is not from 0x80 to 0xA2.
    """

    reason_code: int = 0x87
    """A reason code of MQTT 5.0 that may stand in the answering CONNACK, SUBACK or PUBACK. 0x87: Not authorized."""
    reason_string: str | None = None
    """Words for people. Sent with CONNACK, if the client's limits allow."""

    def __post_init__(self) -> None:
        if not 0x80 <= self.reason_code <= 0xA2:
            raise ValueError(f"reason_code 0x{self.reason_code:02X} is no error: use 0x80 to 0xA2, such as 0x87")


class Admit(msgspec.Struct, frozen=True):
    """``on_connect``: let it in, also where anonymous clients are not let in."""

    identity: str | None = None
    """Who it is, for rules and other hooks; None: whoever the broker has found it to be."""


class Continue(msgspec.Struct, frozen=True):
    """``on_auth``: the method needs another step of the client."""

    data: bytes | None = None
    """Authentication Data for the client."""


class Success(msgspec.Struct, frozen=True):
    """``on_auth``: the client is who it says."""

    identity: str | None = None
    """Who it is, for rules and other hooks; None: anonymous, or when it authenticates itself anew, the same as before.
    It cannot become another then."""
    data: bytes | None = None
    """Authentication Data that go with the acceptance."""
