"""Does the record of a reload say who came and went, and nothing that is secret?"""

from __future__ import annotations

import json
from typing import Any

from lapwing.audit.changes import NAMES_MAX, Known


def tables(users: dict[str, str] | None, rules: int = 0) -> dict[str, Any]:
    known = None if users is None else [{"name": n, "password": p, "tokens": []} for n, p in users.items()]
    return {"auth": {"users": known, "certificates": "listed"}, "rules": [{"identity": str(n)} for n in range(rules)]}


def test_changes_are_by_name() -> None:
    before = Known(tables({"alice": "$argon2id$1", "bob": "$argon2id$2", "eve": "$argon2id$3"}, 2))
    now = Known(tables({"alice": "$argon2id$1", "bob": "$argon2id$9", "carol": "$argon2id$4"}, 3))
    assert before.changes_to(now) == {
        "before": {"users": 3, "rules": 2, "others": []},
        "users": 3,
        "rules": 3,
        "others": [],
        "users_added": ["carol"],
        "users_removed": ["eve"],
        "users_changed": ["bob"],
        "rules_changed": True,
        "auth_changed": [],
    }
    assert "argon2id" not in json.dumps(before.changes_to(now))
    assert before.changes_to(before)["rules_changed"] is False


def test_names_are_bounded() -> None:
    now = Known(tables({f"user-{n}": "" for n in range(10_000)}))
    changes = Known(tables(None)).changes_to(now)
    assert (changes["before"]["users"], changes["users"]) == (None, 10_000)
    assert len(changes["users_added"]) == NAMES_MAX


def test_who_else_is_asked_is_told_without_its_keys() -> None:
    """Is another secret of tokens, or another URL that is asked, in the record, and neither of them itself?"""

    def asked(**auth: object) -> Known:
        return Known({"auth": {"users": None, "certificates": "listed", **auth}, "rules": []})

    before = asked(jwt={"keys": {"secret": "s3cret"}})
    now = asked(jwt={"keys": {"secret": "0ther"}}, outside={"url": "https://elsewhere"}, certificates="any")
    changes = before.changes_to(now)
    assert (changes["before"]["others"], changes["others"]) == (["jwt"], ["jwt", "http"])
    assert changes["auth_changed"] == ["jwt", "http", "certificates"]
    assert "0ther" not in json.dumps(changes)
    assert now.changes_to(now)["auth_changed"] == []
