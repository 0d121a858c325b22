"""What a reload has done to users and rules, by name, without anything that is secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

NAMES_MAX = 50
"""Names of one kind that are written down; the counts are of all."""


class Known:
    """Users and rules as they were read last, as far as it takes to see what another reading changes.

    Python's own hash, with a key of this process, stands for what a user is: it gives nothing away.
    """

    def __init__(self, tables: Mapping[str, Any]) -> None:
        users = tables["auth"]["users"] or []
        self._users = {user["name"]: hash(json.dumps(user, sort_keys=True)) for user in users}
        self._has_users = tables["auth"]["users"] is not None
        self._rules = [json.dumps(rule, sort_keys=True, default=str) for rule in tables["rules"]]

    def counts(self) -> dict[str, Any]:
        """How many there are; no users file: None."""
        return {"users": len(self._users) if self._has_users else None, "rules": len(self._rules)}

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
        }
