"""One ``[hold."FILTER"]`` table: messages that wait for their first subscriber, how many and for how long."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lapwing.config.streams import parse_filter
from lapwing.config.units import Duration, Size

HOLDS_MAX = 64
_FILTER_BYTES_MAX = 1_024


def parse_hold_filter(text: str) -> str:
    """A topic filter whose messages wait.

    Raises:
        ValueError: no filter, longer than 1,024 bytes, or of topics that are the broker's own.
    """
    if text.startswith("$"):
        raise ValueError('must be a topic filter without $ at its beginning, as in "commands/#"')
    if len(parse_filter(text).encode()) > _FILTER_BYTES_MAX:
        raise ValueError(f"must be a topic filter of 1 to {_FILTER_BYTES_MAX} bytes")
    return text


class HoldConfig(BaseModel):
    """QoS 1 and 2 messages under FILTER that nobody subscribes to wait for a first subscriber: see [hold.md](hold.md).

    Of several filters that match a topic the most specific holds its messages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    messages: int = Field(default=1_000_000, ge=1, le=2**32 - 1)
    """Messages that may wait; `bytes` is what bounds them unless this is set lower."""

    bytes: Size = Field(default=16 << 20, ge=1)
    """Bytes of memory that may wait, some 200 for each message beside its topic and payload."""

    expiry: Duration = Field(default=24 * 3_600_000, serialization_alias="expiry_ms")
    """How long each may wait; its own Message Expiry Interval holds too. 0: for ever."""

    overflow: Literal["drop-oldest", "drop-newest"] = "drop-oldest"
    """Which message gives way when more would wait."""

    durability: Literal["disk", "memory"] | None = None
    """Where they wait: "disk", "memory"; absent: as `broker.durability` says."""


HoldFilter = Annotated[str, AfterValidator(parse_hold_filter)]
Holds = Annotated[dict[HoldFilter, HoldConfig], Field(max_length=HOLDS_MAX)]
