"""What a reload does to users and rules: in one line for people, and refused where it would open what was closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.config.auth import AuthSection


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """How many users and rules are in force; ``users`` is None where there is no users file."""

    users: int | None
    rules: int

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> AccessCounts:
        """Of what ``access_tables`` gives."""
        users = tables["auth"]["users"]
        return cls(None if users is None else len(users), len(tables["rules"]))

    def __str__(self) -> str:
        users = "no users file" if self.users is None else _count(self.users, "user")
        return f"{users}, {_count(self.rules, 'rule')}"


def check_still_closed(before: AccessCounts, now: AccessCounts, auth: AuthSection) -> None:
    """A file that is just being written, or was cut off, must neither let everybody in nor lock everybody out.

    Raises:
        ConfigError: there were users or rules, now there are none, and ``auth`` does not say that this is meant.
    """
    if before.users and not now.users and not auth.no_users:
        raise _lost("users", before, now)
    if before.rules and not now.rules and not auth.no_rules:
        raise _lost("rules", before, now)


def _lost(what: str, before: AccessCounts, now: AccessCounts) -> ConfigError:
    return ConfigError(
        f"{before} are in force, and what was read has {now}",
        where=f"auth.no_{what}",
        remedy=f"if that is meant, say no_{what} = true in [auth]",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
