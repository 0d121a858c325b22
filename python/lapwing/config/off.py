"""The word "off", in the place of a value and of a whole table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator


def off_is_none(value: object) -> object:
    """None for "off" and for an empty text, which is how a variable of the environment says it."""
    return None if value in ("", "off") else value


OFF = BeforeValidator(off_is_none)
"""As in ``Annotated[str | None, OFF]``."""

OptionalFile = Annotated[Path | None, OFF]
"""A file, or "off"."""


def has_settings(table: BaseModel) -> bool:
    """Whether a table says anything; what `config show` prints of one that is off says nothing."""
    return any(getattr(table, name) != field.default for name, field in type(table).model_fields.items())
