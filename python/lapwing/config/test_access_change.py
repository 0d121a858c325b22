"""Does a reload that would open what was closed need a word that says so?"""

from __future__ import annotations

import pytest

from lapwing.config.access_change import AccessCounts, check_still_closed
from lapwing.config.auth import AuthSection
from lapwing.errors import ConfigError


@pytest.mark.parametrize(
    ("before", "now", "lost"),
    [
        (AccessCounts(3, 2), AccessCounts(1, 1), ""),
        (AccessCounts(None, 0), AccessCounts(None, 0), ""),
        (AccessCounts(None, 0), AccessCounts(3, 2), ""),
        (AccessCounts(0, 0), AccessCounts(None, 0), ""),
        (AccessCounts(3, 2), AccessCounts(None, 2), "users"),
        (AccessCounts(3, 2), AccessCounts(0, 2), "users"),
        (AccessCounts(3, 2), AccessCounts(3, 0), "rules"),
        (AccessCounts(None, 1), AccessCounts(None, 0), "rules"),
        (AccessCounts(None, 0, ("tokens",)), AccessCounts(None, 0), "users"),
        (AccessCounts(None, 0, ("tokens",)), AccessCounts(0, 0), "users"),
        (AccessCounts(None, 0, ("tokens",)), AccessCounts(1, 0), ""),
        (AccessCounts(3, 0, ("tokens",)), AccessCounts(3, 0), ""),
        (AccessCounts(3, 0), AccessCounts(None, 0, ("tokens",)), "users"),
    ],
)
def test_what_is_lost(before: AccessCounts, now: AccessCounts, lost: str) -> None:
    if not lost:
        check_still_closed(before, now, AuthSection())
        return
    with pytest.raises(ConfigError, match=f"no_{lost} = true"):
        check_still_closed(before, now, AuthSection())
    check_still_closed(before, now, AuthSection.model_validate({f"no_{lost}": True}))


def test_counts_are_words() -> None:
    tables = {"auth": {"users": [{"name": "a"}]}, "rules": [{}, {}]}
    assert str(AccessCounts.of(tables)) == "1 user, 2 rules"
    assert str(AccessCounts.of({"auth": {"users": None}, "rules": []})) == "no users file, 0 rules"


def test_what_changes_is_words() -> None:
    """Also where the counts are what they were; and nothing of what is secret."""

    def counted(password: str = "1", may: str = "publish", issuer: str | None = None) -> AccessCounts:
        auth = {"users": [{"name": "a", "password": password}], "jwt": issuer and {"issuer": issuer}}
        return AccessCounts.of({"auth": auth, "rules": [{"may": [may]}]})

    assert counted().change_to(counted()) == "1 user, 1 rule"
    assert counted().change_to(counted("2", "subscribe")) == "1 user, 1 rule; changed: users, rules"
    assert counted().change_to(counted(issuer="i")) == "1 user, 1 rule before, 1 user, 1 rule, tokens now"
    changed = counted(issuer="i").change_to(counted(issuer="j"))
    assert changed == "1 user, 1 rule, tokens; changed: settings of tokens"
