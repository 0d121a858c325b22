"""Topic ids that clients of MQTT-SN know beforehand (section 6.7 of its specification)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field, field_validator

from lapwing._core import topic_fault

_ID_MAX = 65_534


class PredefinedTopic(BaseModel):
    """A topic with an id that clients know beforehand."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: int = Field(ge=1, le=_ID_MAX)
    """Which number stands for it."""

    topic: str
    """The topic's name, without wildcards."""

    client: str | None = None
    """The one client id that it is for; absent: it is for all."""

    @field_validator("topic")
    @classmethod
    def _is_a_name(cls, topic: str) -> str:
        if fault := topic_fault(topic):
            raise ValueError(f"is not a topic name: {fault}")
        return topic


def check_predefined(topics: Sequence[PredefinedTopic]) -> Iterator[str]:
    """What one client could not tell apart, in words."""
    by_id: dict[int, list[PredefinedTopic]] = {}
    ids: dict[tuple[str | None, str], int] = {}
    for entry in topics:
        for other in by_id.setdefault(entry.id, []):
            if entry.client == other.client or None in (entry.client, other.client):
                yield f'predefined: id {entry.id} is given to "{other.topic}" and to "{entry.topic}"'
        by_id[entry.id].append(entry)
        first = ids.setdefault((entry.client, entry.topic), entry.id)
        if first != entry.id:
            yield f'predefined: topic "{entry.topic}" has the ids {first} and {entry.id}: take one away'
