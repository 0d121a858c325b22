"""One ``[topics."FILTER"]`` table: what holds for messages of some topics, whoever has to do with them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lapwing.config.off import has_settings
from lapwing.config.streams import parse_filter
from lapwing.config.units import Seconds

TOPIC_TABLES_MAX = 256
Expiry = Annotated[Seconds, Field(le=2**32 - 1)]


class TopicConfig(BaseModel):
    """What holds for messages of some topics: see [durability.md](durability.md#topics-that-are-worth-no-disk).

    FILTER is a topic filter: `[topics."telemetry/#"]`. The most specific one that matches decides: level by level from
    the left a name goes before `+`, and `+` before `#`. What it leaves open, the next one decides that matches.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    durability: Literal["disk", "memory"] | None = None
    """Where they are kept that are kept at all: "memory" for as long as the broker runs, QoS 2 on disk all the same;
    "disk" within the topics of a wider filter with "memory". Absent: as broker.durability says."""
    message_expiry_default: Expiry | None = Field(default=None, serialization_alias="message_expiry_s_default")
    """Message Expiry Interval of those without one, retained ones too; 0: they do not expire. Absent: that of
    limits."""
    message_expiry_max: Expiry | None = Field(default=None, serialization_alias="message_expiry_s_max")
    """Longest Message Expiry Interval, also of those without one; a longer one is lowered; 0: no bound. Absent: that
    of limits."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not has_settings(self):
            raise ValueError("says nothing: set durability, message_expiry_default or message_expiry_max, or remove it")
        return self


TopicFilter = Annotated[str, AfterValidator(parse_filter)]
Topics = Annotated[dict[TopicFilter, TopicConfig], Field(max_length=TOPIC_TABLES_MAX)]


def topic_tables(topics: dict[str, TopicConfig]) -> dict[str, Any]:
    """All tables in the node's own names."""
    return {filter_: table.model_dump(by_alias=True) for filter_, table in topics.items()}
