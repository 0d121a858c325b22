"""All that does not go together in one table, and not only the first of it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError


def refuse_all(table: BaseModel, problems: Iterable[str]) -> None:
    """For a validator of the whole table, where pydantic takes one error.

    Raises:
        ValidationError: with one error for each of ``problems``, in words; nothing where there are none.
    """
    found = list(problems)
    if not found:
        return
    given = table.model_dump(mode="json", exclude_unset=True)
    kinds = (PydanticCustomError("together", "{why}", {"why": why}) for why in found)
    errors = [InitErrorDetails(type=kind, loc=(), input=given) for kind in kinds]
    raise ValidationError.from_exception_data(type(table).__name__, errors)
