"""The ``[hooks]`` table: which hooks, how long they may take, and what happens without their answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from lapwing.config.off import OFF
from lapwing.config.units import Duration, Size
from lapwing.hooks.loading import parse_use


class HooksSection(BaseModel):
    """Python that judges and watches what clients do ([hooks.md](hooks.md))."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    use: Annotated[Annotated[str, AfterValidator(parse_use)] | None, OFF] = None
    """`"package.module:ClassName"` of a class derived from `lapwing.Hooks`; made without arguments at the start."""

    timeout: Duration = Field(default=1_000, ge=10, serialization_alias="timeout_ms")
    """Time from asking a hook to its answer, the time in the queue included."""

    on_failure: Literal["refuse", "pass"] = "refuse"
    """What happens to work whose hook raised, was late, or found the queue full. `on_auth` is always refused then."""

    queue: int = Field(default=10_000, ge=1, le=2**32 - 1)
    """Calls that may wait for the hook thread, half of them of `on_connect` and `on_auth`; as many observations too."""

    queue_bytes: Size = Field(default=64 << 20, ge=1)
    """Bytes of the messages in those calls; the same again for observations."""
