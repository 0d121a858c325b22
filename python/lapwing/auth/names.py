"""Names of users and of their tokens."""

from __future__ import annotations

import re

ANONYMOUS = "anonymous"
"""The name under which rules speak of those without one."""

_BYTES_MAX = 256
_TOKEN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def parse_user_name(name: str) -> str:
    """A name that CONNECT can carry and rules can speak of.

    Raises:
        ValueError: what is wrong with it.
    """
    if not name or len(name.encode("utf-8", "surrogatepass")) > _BYTES_MAX:
        raise ValueError(f"a user name has 1 to {_BYTES_MAX} bytes")
    if name == ANONYMOUS:
        raise ValueError('"anonymous" is the name that rules have for those without one')
    if "*" in name:
        raise ValueError("a user name has no *, which rules take for any characters")
    if not name.isprintable():
        raise ValueError("a user name has printable characters only")
    return name


def parse_token_name(name: str) -> str:
    """A name by which a person tells tokens of one user apart.

    Raises:
        ValueError: other characters, empty, or longer than 64.
    """
    if not _TOKEN_NAME.fullmatch(name):
        raise ValueError("a token's name has 1 to 64 of letters, digits, '.', '_' and '-'")
    return name
