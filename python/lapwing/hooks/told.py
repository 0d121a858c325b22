"""Why a hook failed, as text for the log: without what its client gave to prove itself, and without forged lines.

The text of an exception is its author's, and often quotes what it is about: a password that did not fit, a client id
with a line feed in it.
"""

from __future__ import annotations

import traceback

_CHAIN_MAX = 8
_SECRET_MIN = 4
"""Shorter secrets are in many words by accident: where one is, the text is left out."""


def told(error: BaseException, secrets: tuple[bytes, ...] = ()) -> str:
    """The traceback of ``error`` and of what led to it; each exception on one line, with ``secrets`` hidden in it."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(parts) < _CHAIN_MAX:
        frames = "".join(traceback.format_tb(seen.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{frames}{_line(seen, secrets)}")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "\nwhich was raised while this was handled:\n".join(parts)


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
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
