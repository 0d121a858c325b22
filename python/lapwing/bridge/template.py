"""Templates: text with places in braces, parsed once and filled for each message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lapwing.config.bridge_text import PLACE


class Template(NamedTuple):
    """Text before each place, the places, and the text behind the last."""

    texts: tuple[str, ...]
    places: tuple[str, ...]
    end: str


def parse(text: str) -> Template:
    """A template of text that the configuration has checked."""
    parts = PLACE.split(text)
    return Template(tuple(parts[:-1:2]), tuple(parts[1::2]), parts[-1])


def fill(template: Template, values: Mapping[str, str]) -> str | None:
    """The text with its places filled; None where one has no value."""
    filled: list[str] = []
    for text, place in zip(template.texts, template.places, strict=True):
        value = values.get(place)
        if value is None:
            return None
        filled += (text, value)
    return "".join(filled) + template.end
