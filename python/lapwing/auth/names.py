"""Names of users and of their tokens."""

from __future__ import annotations

import re

from lapwing._core import unseen_in_name

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


def check_fillable(name: str) -> None:
    """Whether rules can fill a name in for ``%u``: of a topic filter it would make another.

    Names of users that there are already are read as they are: a rule with such a name in it permits nothing.

    Raises:
        ValueError: it cannot be filled in.
    """
    if found := sorted(set(name) & set("#+/")):
        raise ValueError(f"a user name has no {' or '.join(found)}, which rules could not fill in for %u")
    if name.startswith("$"):
        raise ValueError("a user name does not begin with $, which rules could not fill in for %u")


def check_shown(name: str) -> None:
    """Whether all of a new name shows: who types it as it looks must be that user.

    Names of users that there are already are read as they are; a notice names them.

    Raises:
        ValueError: something of it does not.
    """
    if (what := unseen_in_name(name)) is not None:
        raise ValueError(f"it {what}")


def parse_token_name(name: str) -> str:
    """A name by which a person tells tokens of one user apart.

    Raises:
        ValueError: other characters, empty, or longer than 64.
    """
    if not _TOKEN_NAME.fullmatch(name):
        raise ValueError("a token's name has 1 to 64 of letters, digits, '.', '_' and '-'")
    return name
