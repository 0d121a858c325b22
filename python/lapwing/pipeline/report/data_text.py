"""Text of others in a picture: client ids, networks, kinds. It is drawn as it is, or not at all."""

from __future__ import annotations

from lapwing.text import one_line


def plain(text: str, chars_max: int) -> str:
    """The text with no markup of the drawing library, on one line, and no longer than there is room.

    A ``$`` would begin mathematics, and one formula that cannot be set ends the whole report. What has no shape
    (control characters, marks that turn the direction of writing) is escaped. Of a long text the end is kept:
    names that belong together tend to begin alike.
    """
    shown = one_line(text)
    if len(shown) > chars_max:
        shown = "…" + shown[1 - chars_max :]
    return shown.replace("$", r"\$")
