"""The ``[events]`` table: what clients do, as messages."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from lapwing.config.units import Size


class EventsSection(BaseModel):
    """What clients do, as messages on `$lapwing/events/...` ([events.md](events.md))."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    clients: bool = False
    """That clients connect, disconnect, subscribe and unsubscribe."""

    published: bool = False
    """Each message that they publish: its topic, QoS and size."""

    refused: bool = False
    """Who was refused, and what clients wanted to do and may not; as many a minute as `limits.notices_per_minute`."""

    queue: int = Field(default=100_000, ge=1, le=2**32 - 1)
    """Events that may wait to be published; what comes then is dropped and counted."""

    queue_bytes: Size = Field(default=32 << 20, ge=1)
    """Bytes of those events."""
