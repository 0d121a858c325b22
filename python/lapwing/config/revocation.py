"""Which files have revocation lists (CRL), for listeners of MQTT and for HTTPS."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field


def _one_or_more(value: object) -> object:
    """One name of a file, or a list of them."""
    return [value] if isinstance(value, str | Path) else value


RevocationLists = Annotated[list[Path], BeforeValidator(_one_or_more), Field(max_length=64)]
"""One file or several, in PEM."""
