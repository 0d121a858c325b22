"""A last will: what the broker publishes when a client goes without saying goodbye."""

from __future__ import annotations

from typing import NamedTuple


class Will(NamedTuple):
    """A last will.

    Attributes:
        topic: Where to.
        payload: What.
        qos: With which quality, 0 to 2.
        retain: Whether it is retained.
        delay_s: How long the broker waits first, in seconds (MQTT 5.0).
    """

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    delay_s: int = 0
