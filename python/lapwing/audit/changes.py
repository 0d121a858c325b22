"""What a reload has done to users, rules and whom else is asked, by name, without anything that is secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

NAMES_MAX = 50
"""Names of one kind that are written down; the counts are of all."""


_SECTIONS = {"jwt": "jwt", "http": "outside"}
"""Who else is asked, as ``[auth]`` names it, and as the node does."""


class Known:
    """Users, rules and whom else is asked as they were read last: as far as it takes to see what another one changes.

    Python's own hash, with a key of this process, stands for users and for the keys of tokens: it gives nothing away.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        users = tables["auth"]["users"] or []
        self._users = {user["name"]: hash(json.dumps(user, sort_keys=True)) for user in users}
        self._has_users = tables["auth"]["users"] is not None
        auth = {name: tables["auth"].get(key) for name, key in _SECTIONS.items()}
        self._others = [name for name, table in auth.items() if table is not None]
        auth["certificates"] = tables["auth"].get("certificates")
        self._auth = {name: hash(json.dumps(table, sort_keys=True, default=str)) for name, table in auth.items()}
        self._rules = [json.dumps(rule, sort_keys=True, default=str) for rule in tables["rules"]]

    def counts(self) -> dict[str, Any]:
        """How many there are; no users file: None. And who else is asked."""
        users = len(self._users) if self._has_users else None
        return {"users": users, "rules": len(self._rules), "others": self._others}

    def changes_to(self, now: Known) -> dict[str, Any]:
        """From these to those: counts before and after, and users by name."""
        before_names, now_names = self._users.keys(), now._users.keys()
        changed = [name for name in before_names & now_names if self._users[name] != now._users[name]]
        return {
            "before": self.counts(),
            **now.counts(),
            "users_added": sorted(now_names - before_names)[:NAMES_MAX],
            "users_removed": sorted(before_names - now_names)[:NAMES_MAX],
            "users_changed": sorted(changed)[:NAMES_MAX],
            "rules_changed": self._rules != now._rules,
            "auth_changed": [name for name, table in now._auth.items() if self._auth[name] != table],
        }
