"""A configuration file that was cut off, or is just being written, is the beginning of the one in force.

Most such files are no TOML, or have lost all users or rules, which needs a word (``access_change``). The others read
well and permit more: a rule without its last line, `effect = "deny"`; tokens without their audience. What only takes
rights away is left alone: who takes the last rule out of a file has made a beginning of it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.config.load import Loaded
    from lapwing.config.model import Config
    from lapwing.config.rules import RuleConfig


def check_not_cut_off(before: Loaded, now: Loaded) -> None:
    """Compares what was read with what is in force.

    Raises:
        ConfigError: the file is the beginning of the one in force, and what it lacks could let in more than before.
    """
    is_beginning = len(now.text) < len(before.text) and before.text.startswith(now.text)
    if not is_beginning or _has_lost_all(before.config, now.config):
        return  # what has lost all is refused, with the word that says that it is meant
    if before.config.auth != now.config.auth or _binds_less(before.config.rules, now.config.rules):
        raise ConfigError(
            "this is the beginning of the file in force, and lacks lines that forbid or bind: it was cut off, or is"
            " being written",
            where=now.name,
            remedy="write it as a whole; if that is meant, add a line at its end, a comment say",
        )


def _has_lost_all(before: Config, now: Config) -> bool:
    lost_rules = before.rules and not now.rules and not now.auth.no_rules
    return bool(lost_rules or (before.auth.users and not now.auth.users and not now.auth.no_users))


def _binds_less(before: list[RuleConfig], now: list[RuleConfig]) -> bool:
    """Whether a rule was changed, or one is gone that does more than permit."""
    gone = before[len(now) :]
    return now != before[: len(now)] or any(rule.effect == "deny" or "connect" in rule.may for rule in gone)
