"""What a reload does to users and rules: in one line for people, and refused where it would open what was closed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.config.auth import AuthSection

_OTHERS = {"jwt": "tokens", "outside": "a check over HTTP"}
"""Who is asked beside the users, by their tables for the node."""


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """How many users and rules are in force, and who else is asked.

    Attributes:
        users: None where there is no users file.
        rules: How many.
        others: Who is asked beside the users, in words.
        contents: What stands for users, rules and the others' settings: Python's own hash, with a key of this process,
            gives nothing of them away.
    """

    users: int | None
    rules: int
    others: tuple[str, ...] = ()
    contents: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> AccessCounts:
        """Of what ``access_tables`` gives."""
        auth, rules = tables["auth"], tables["rules"]
        users, others = auth["users"], {key: auth[key] for key in _OTHERS if auth.get(key) is not None}
        contents = (_hash(users), _hash(rules), _hash(others))
        words = tuple(_OTHERS[key] for key in others)
        return cls(None if users is None else len(users), len(rules), words, contents)

    def __str__(self) -> str:
        users = "no users file" if self.users is None else _count(self.users, "user")
        return ", ".join([users, _count(self.rules, "rule"), *self.others])

    def change_to(self, now: AccessCounts) -> str:
        """What is other then, in words: counts, and else what has changed under the same ones."""
        if str(self) != str(now):
            return f"{self} before, {now} now"
        names = ("users", "rules", "settings of " + " and ".join(now.others))
        changed = [name for name, one, other in zip(names, self.contents, now.contents, strict=True) if one != other]
        return f"{now}{'; changed: ' if changed else ''}{', '.join(changed)}"


def check_still_closed(before: AccessCounts, now: AccessCounts, auth: AuthSection) -> None:
    """A file that is just being written, or was cut off, must neither let everybody in nor lock everybody out.

    Raises:
        ConfigError: there were users, somebody else to ask, or rules; now there are none, and ``auth`` does not say
            that this is meant.
    """
    asks_nobody = not now.users and not now.others
    if ((before.users and not now.users) or (before.others and asks_nobody)) and not auth.no_users:
        raise _lost("users", before, now)
    if before.rules and not now.rules and not auth.no_rules:
        raise _lost("rules", before, now)


def _lost(what: str, before: AccessCounts, now: AccessCounts) -> ConfigError:
    return ConfigError(
        f"{before} are in force, and what was read has {now}",
        where=f"auth.no_{what}",
        remedy=f"if that is meant, say no_{what} = true in [auth]",
    )


def _hash(part: object) -> int:
    return hash(json.dumps(part, sort_keys=True))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
