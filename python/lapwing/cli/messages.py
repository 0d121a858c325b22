"""Messages as JSON, for programs; `lapwing.text` has them as lines for people."""

from __future__ import annotations

import base64
from collections.abc import Iterable


def payload_fields(payload: bytes) -> dict[str, str]:
    """``{"payload": text}`` where the bytes are UTF-8, else ``{"payload_base64": ...}``."""
    try:
        return {"payload": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": base64.b64encode(payload).decode()}


def property_list(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """User properties as JSON: a list of pairs, because names repeat."""
    return [[name, value] for name, value in pairs]
