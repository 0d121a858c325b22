"""Why a hook failed, as text for the log: without what its client gave to prove itself, and without forged lines.

The text of an exception is its author's, and often quotes what it is about: a password that did not fit, a client id
with a line feed in it.
"""

from __future__ import annotations

import traceback

from lapwing.text import Lines, one_line, traceback_text

_SECRET_MIN = 4
"""Shorter secrets are in many words by accident: where one is, the text is left out."""


def told(error: BaseException, secrets: tuple[bytes, ...] = ()) -> Lines:
    """The traceback of ``error`` and of what led to it; each exception on one line, with ``secrets`` hidden in it."""
    return traceback_text(error, lambda seen: _line(seen, secrets))


def _line(error: BaseException, secrets: tuple[bytes, ...]) -> str:
    text = "".join(traceback.format_exception_only(error)).removesuffix("\n")
    for secret in filter(None, secrets):
        # As text, and as Python shows bytes.
        forms = {secret.decode(errors="replace"), repr(secret)[2:-1], repr(secret.decode(errors="replace"))[1:-1]}
        if any(form in text for form in forms):
            if len(secret) < _SECRET_MIN:
                return f"{type(error).__qualname__}: ***"
            for form in sorted(forms, key=len, reverse=True):
                text = text.replace(form, "***")
    return one_line(text)
