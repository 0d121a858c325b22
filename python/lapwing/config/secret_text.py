"""Takes secrets out of text that is shown: somebody may have written one where none belongs."""

from __future__ import annotations

import re

_NAME = r"""[\w.-]*(?:password|passwd|secret|token|jaas|\.pem\b|oauthbearer\.config)(?!_file|\w*_file)[\w.-]*["']?"""
_QUOTED = r"""(?:"{3}.*?"{3}|'{3}.*?'{3}|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')(?=\s*(?:[,;}\])]|$))"""
_SECRET = re.compile(rf"({_NAME}\s*[=:]\s*)(?:{_QUOTED}|.+)", re.IGNORECASE | re.DOTALL)
"""A value without quotes may have spaces and commas: it is all that follows."""
_PEM = re.compile(r"-----BEGIN.*", re.DOTALL)
_USER = re.compile(r"""((?:\w+://)?)[^\s"'/@=\[]*:[^\s"'@]*(?:@[^\s"'@]*)*@""")


def without_secrets(text: str) -> str:
    """``a.password=x`` becomes ``a.password=***``, ``tcp://me:x@host`` becomes ``tcp://***@host``, a PEM ``***``.

    Names of files with secrets are no secrets.
    """
    return _USER.sub(r"\1***@", _PEM.sub("***", _SECRET.sub(r"\1***", text)))
