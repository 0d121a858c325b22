"""Takes secrets out of text that is shown: somebody may have written one where none belongs."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"""([\w.-]*(?:password|passwd|secret|token|jaas)(?!_file|\w*_file)[\w.-]*["']?\s*[=:]\s*)"""
    r"""("[^"]*"|'[^']*'|[^\s,;}\])]+)""",
    re.IGNORECASE,
)


def without_secrets(text: str) -> str:
    """``a.password=x`` becomes ``a.password=***``; names of files with secrets are no secrets."""
    return _SECRET.sub(r"\1***", text)
