"""The ``[envelope]`` table: from when on messages carry a note on their publishers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class EnvelopeSection(BaseModel):
    """Who has published a message, told to clients that ask and may ([envelope.md](envelope.md))."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stamp: Literal["asked", "always", "never"] = "asked"
    """From when on messages carry the note: "asked": from when the first client that may be told asks, then for good;
    "always": from the start; "never": nobody is told."""
