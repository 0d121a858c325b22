"""The ``$SYS`` tree: the broker's own numbers as retained messages."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from lapwing.config.units import Duration


class SysSection(BaseModel):
    """The `$SYS` tree, see [sys.md](sys.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    interval: Duration = Field(default=10_000, le=86_400_000, serialization_alias="interval_ms")
    """Time between two publications of what has changed; 0: there is no $SYS tree."""
