"""A configuration file that was cut off, or is just being written, is the beginning of the one in force.

Most such files are no TOML, or have lost all users or rules, which needs a word (``access_change``). The others read
well, and each line that they lack may be worth more than it looks: without its last line, ``effect = "deny"``, a rule
permits; without the last rule subscriptions are taken back that no later reload brings again; without its table a group
ends with what it was to keep; without theirs topics are in memory alone. So such a file changes nothing that a reload
takes over. Who has taken the last rule out has made a beginning of it, too: a further line says that it is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lapwing.config.restart import RELOADED
from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.config.load import Loaded
    from lapwing.config.model import Config


def check_not_cut_off(before: Loaded, now: Loaded) -> None:
    """Compares what was read with what is in force.

    Raises:
        ConfigError: the file is the beginning of the one in force, and what it lacks is in a table that is taken over.
    """
    is_beginning = len(now.text) < len(before.text) and before.text.startswith(now.text)
    if not is_beginning or _has_lost_all(before.config, now.config):
        return  # what has lost all is refused, with the word that says that it is meant
    lacking = [table for table in RELOADED if getattr(before.config, table) != getattr(now.config, table)]
    if lacking:
        raise ConfigError(
            "this is the beginning of the file in force, and lacks lines about "
            f"{', '.join(lacking)}: it was cut off, or is being written",
            where=now.name,
            remedy="write it as a whole; if that is meant, add a line at its end, a comment say",
        )


def _has_lost_all(before: Config, now: Config) -> bool:
    lost_rules = before.rules and not now.rules and not now.auth.no_rules
    return bool(lost_rules or (before.auth.users and not now.auth.users and not now.auth.no_users))
