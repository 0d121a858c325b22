"""The ``[audit]`` table: who came, who was refused, who changed what, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lapwing.config.units import Duration, Size

_U32 = 2**32 - 1


class AuditSection(BaseModel):
    """Who came, who was refused, who changed what, in a file ([audit.md](audit.md))."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: Annotated[Path | None, BeforeValidator(lambda value: None if value in ("", "off") else value)] = None
    """The file, mode 0600; older ones lie beside it as `FILE.1`, `FILE.2`. "off": there is no trail."""

    chain: bool = True
    """Each line has the hash of the one before it: `lapwing audit verify` says where one was changed or taken out."""

    file_bytes: Size = Field(default=16 << 20, ge=64 << 10, le=1 << 40)
    """Size from which the next file is begun."""

    files: int = Field(default=10, ge=2, le=1_000)
    """Files in all; the oldest is removed."""

    sync: Duration = Field(default=1_000, le=60_000, serialization_alias="sync_ms")
    """Time after which what was written is on disk. "0s": after every write."""

    on_failure: Literal["go-on", "stop"] = "go-on"
    """When it cannot be written: "go-on" with an alarm, and try again; "stop" the broker (exit code 1)."""

    queue: int = Field(default=10_000, ge=1, le=_U32)
    """Events that may wait to be written; what comes then is lost, counted, and the trail says how many."""

    refusals_per_minute: int = Field(default=600, ge=1, le=_U32)
    """Refusals of one kind that are written in a minute; beyond, the trail says how many more there were."""
