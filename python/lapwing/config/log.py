"""The ``[log]`` table: what the broker prints on standard error, and how."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Level = Literal["info", "notice", "warning", "off"]
Subject = Literal[
    "memory", "disk", "retention", "log", "clock", "audit", "stalled", "start", "group", "refused", "clients", "lost",
    "hooks", "strategies", "http", "cluster", "other",
]  # fmt: skip
"""The kinds of notices, and what HTTP says through Python's logging; whatever else is logged there is "other"."""
SUBJECTS: tuple[str, ...] = get_args(Subject)


class LogSection(BaseModel):
    """What the broker prints on standard error ([operations.md](operations.md#the-log))."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["auto", "text", "json", "journald"] = "auto"
    """"text": words, a line each; "json": one object a line; "journald": entries with fields of their own; "auto":
    journald where standard error is its stream, else text."""

    level: Level = "info"
    """The least that is printed: "info": who came and went too; "notice"; "warning": alarms of the broker; "off"."""

    levels: dict[Subject, Level] = Field(default={}, max_length=64)
    """The same by subject, as `clients = "off"`; the subjects are the kinds of notices."""
