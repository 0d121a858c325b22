"""Who may write a file that the broker believes, in every combination of owner, group, mode and kind."""

from __future__ import annotations

import itertools
import stat

import pytest

from lapwing.file_rights.verdict import Facts, Trusted, is_read_by_all, remedy, strange_writer

ROOT, OWN, OTHER = 0, 1001, 1002
OWN_GROUP, OTHER_GROUP = 2001, 2002
TRUSTED = Trusted.of([OWN], [OWN_GROUP])
FILE, FOLDER, STICKY, LINK = stat.S_IFREG, stat.S_IFDIR, stat.S_IFDIR | stat.S_ISVTX, stat.S_IFLNK

SAFE_MODES = (0o600, 0o644, 0o640, 0o755, 0o444, 0o400)
BY_GROUP = (0o620, 0o664, 0o775, 0o670)
BY_ALL = (0o602, 0o606, 0o646, 0o666, 0o777)


def expected(kind: int, uid: int, gid: int, mode: int) -> str:
    """The word of the reason; empty: nobody strange. Written as a table of what is forbidden."""
    if uid == OTHER:
        return "belongs"
    if kind in (STICKY, LINK):
        return ""
    if mode in BY_ALL:
        return "every user"
    return f"group {gid}" if mode in BY_GROUP and gid == OTHER_GROUP else ""


@pytest.mark.parametrize("kind", [FILE, FOLDER, STICKY, LINK])
def test_every_combination(kind: int) -> None:
    combinations = itertools.product((ROOT, OWN, OTHER), (0, OWN_GROUP, OTHER_GROUP), SAFE_MODES + BY_GROUP + BY_ALL)
    for uid, gid, mode in combinations:
        said = strange_writer(Facts(uid, gid, kind | mode), TRUSTED)
        wanted = expected(kind, uid, gid, mode)
        assert bool(said) == bool(wanted), (kind, uid, gid, oct(mode), said)
        assert wanted in said, (kind, uid, gid, oct(mode))


def test_reason_names_uid_and_mode() -> None:
    assert strange_writer(Facts(OTHER, 0, FILE | 0o600), TRUSTED).startswith("it belongs to uid 1002")
    assert strange_writer(Facts(OWN, OTHER_GROUP, FILE | 0o664), TRUSTED) == "group 2002 may write it (mode 0664)"


def test_a_group_may_read_and_everybody_may_not() -> None:
    assert [is_read_by_all(Facts(0, 0, FILE | mode)) for mode in (0o600, 0o640, 0o660, 0o644, 0o604)] == [
        False,
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("facts", "command"),
    [
        (Facts(OTHER, 0, FILE | 0o600), "chown -h root '/a b'"),
        (Facts(OWN, OTHER_GROUP, FILE | 0o620), "chmod g-w '/a b'"),
        (Facts(OWN, 0, FILE | 0o606), "chmod o-w '/a b'"),
        (Facts(OWN, OTHER_GROUP, FILE | 0o666), "chmod go-w '/a b'"),
    ],
)
def test_the_command_mends_it(facts: Facts, command: str) -> None:
    """Does it name all that is to be changed, so that the next start says nothing?"""
    assert remedy(facts, TRUSTED, "/a b") == command
