"""One ``[topics."FILTER"]`` table: what holds for messages of some topics, whoever has to do with them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lapwing.config.streams import parse_filter

TOPIC_TABLES_MAX = 256


class TopicConfig(BaseModel):
    """What holds for messages of some topics: see [durability.md](durability.md#topics-that-are-worth-no-disk).

    FILTER is a topic filter: `[topics."telemetry/#"]`. The most specific one that matches decides: level by level from
    the left a name goes before `+`, and `+` before `#`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    durability: Literal["disk", "memory"]
    """Where they are kept that are kept at all: "memory" for as long as the broker runs, QoS 2 on disk all the same;
    "disk" within the topics of a wider filter with "memory"; required."""


TopicFilter = Annotated[str, AfterValidator(parse_filter)]
Topics = Annotated[dict[TopicFilter, TopicConfig], Field(max_length=TOPIC_TABLES_MAX)]


def topic_tables(topics: dict[str, TopicConfig]) -> dict[str, Any]:
    """All tables in the node's own names."""
    return {filter_: table.model_dump() for filter_, table in topics.items()}
