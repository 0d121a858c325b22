"""Whose group is trusted with an account's files?"""

from __future__ import annotations

import grp
import pwd

import pytest

from lapwing.file_rights.private_group import private_group


@pytest.mark.parametrize(
    ("name", "members", "expected"),
    [("lapwing", [], 2001), ("lapwing", ["lapwing"], 2001), ("lapwing", ["lapwing", "eve"], None), ("users", [], None)],
)
def test_only_a_group_of_its_own(
    monkeypatch: pytest.MonkeyPatch, name: str, members: list[str], expected: int | None
) -> None:
    account = pwd.struct_passwd(("lapwing", "x", 1001, 2001, "", "/", "/bin/false"))
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: account)
    monkeypatch.setattr(grp, "getgrgid", lambda gid: grp.struct_group((name, "x", gid, members)))
    assert private_group(1001) == expected


def test_an_account_that_nobody_knows_has_none() -> None:
    assert private_group(54_321) is None
