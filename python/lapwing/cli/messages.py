"""Messages as lines: text for people, one JSON object per line for programs."""

from __future__ import annotations

import base64
from collections.abc import Iterable


def payload_fields(payload: bytes) -> dict[str, str]:
    """``{"payload": text}`` where the bytes are UTF-8, else ``{"payload_base64": ...}``."""
    try:
        return {"payload": payload.decode()}
    except UnicodeDecodeError:
        return {"payload_base64": base64.b64encode(payload).decode()}


def payload_text(payload: bytes) -> str:
    """The payload on one line, control characters and what is not UTF-8 escaped: safe on a terminal."""
    return one_line(payload.decode(errors="backslashreplace"))


def one_line(text: str) -> str:
    """Text of others (a topic, a client id, an answer) with everything escaped that a terminal would not show as it is.

    Control characters move the cursor and begin lines; marks of direction show a line otherwise than it stands.
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def property_list(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """User properties as JSON: a list of pairs, because names repeat."""
    return [[name, value] for name, value in pairs]
