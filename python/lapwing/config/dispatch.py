"""The ``[dispatch]`` table: what holds for every consumer group."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from lapwing.config.units import Size

PropertyName = Annotated[str, Field(min_length=1, max_length=256, pattern="^[^\\x00]*$")]


class DispatchSection(BaseModel):
    """What holds for every consumer group; one group's settings are in `[groups."NAME"]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deadline_property: PropertyName = "lapwing-deadline-ms"
    """User property of a PUBLISH that says in how many milliseconds after its arrival it should be finished."""

    priority_property: PropertyName = "lapwing-priority"
    """User property of a PUBLISH that says "critical" or "bulk"."""

    groups_max: int = Field(default=10_000, ge=1, le=2**32 - 1)
    """Groups of the whole broker; a SUBSCRIBE that would make one more is refused (0x97, 3.1.1: 0x80)."""

    members_per_group_max: int = Field(default=10_000, ge=1, le=2**32 - 1)
    """Members of one group; a SUBSCRIBE of one more is refused in the same way."""

    group_metrics_max: int = Field(default=1_000, ge=0, le=2**32 - 1)
    """Groups that have metrics of their own, the declared ones first; the others are counted. 0: none."""

    member_metrics_max: int = Field(default=256, ge=0, le=65_536)
    """Metrics of each member are shown while the whole broker has at most so many members. 0: never."""

    metrics_label_bytes_max: Size = Field(default=2 << 20, ge=0)
    """Bytes that names of groups, filters and clients take in all these metrics together; what goes beyond has none."""

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        if self.deadline_property == self.priority_property:
            raise ValueError("deadline_property and priority_property must be two names")
        return self
