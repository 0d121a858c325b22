"""One rule of a group: priority and deadline by topic, for publishers that cannot say them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lapwing.config.streams import parse_filter
from lapwing.config.units import Duration

_DAY_MS = 24 * 3_600_000


class GroupRule(BaseModel):
    """What holds for messages of some topics that have no such property themselves; the first rule that fits counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    topics: Annotated[list[Annotated[str, AfterValidator(parse_filter)]], Field(min_length=1)]
    """Topic filters, one of which has to match; required."""

    priority: Literal["critical", "bulk"] | None = None
    """"critical" goes before all "bulk"."""

    deadline: Annotated[Duration, Field(ge=1, le=_DAY_MS)] | None = Field(
        default=None, serialization_alias="deadline_ms"
    )
    """How long after its arrival at the broker a message should be finished."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.priority is None and self.deadline is None:
            raise ValueError("give the rule a priority, a deadline, or both")
        return self
