"""Which account is meant, and what of root a thread has left: decided from numbers, by anybody."""

from __future__ import annotations

import os
import pwd
from typing import Any

import pytest

from lapwing.errors import ConfigError
from lapwing.privileges.account import find_account, wanted_account
from lapwing.privileges.kernel import standing_of_threads, still_privileged

OTHER = next(entry for entry in pwd.getpwall() if entry.pw_uid not in (0, os.geteuid()))
CLEAN = {
    "Uid": ("7",) * 4,
    "Gid": ("8",) * 4,
    "Groups": ("8", "9"),
    "CapPrm": ("0000000000000000",),
    "CapEff": ("0000000000000000",),
    "CapAmb": ("0000000000000000",),
}


def test_name_and_number_mean_the_same() -> None:
    account = find_account(OTHER.pw_name)
    assert account == find_account(str(OTHER.pw_uid))
    assert (account.uid, account.gid) == (OTHER.pw_uid, OTHER.pw_gid)
    assert account.gid in account.groups


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nobody-of-that-name", "useradd --system --shell /usr/sbin/nologin nobody-of-that-name"),
        ("4294967294", "there is no such account"),
        ("99999999999999999999", "there is no such account"),
        ("root", "is root"),
        ("0", "is root"),
    ],
)
def test_who_cannot_be_meant(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        find_account(text)


@pytest.mark.parametrize(
    ("text", "uid", "platform", "outcome"),
    [
        (None, 0, "linux", None),
        (None, 7, "linux", None),
        (OTHER.pw_name, OTHER.pw_uid, "linux", None),
        (OTHER.pw_name, 0, "linux", OTHER.pw_uid),
        (OTHER.pw_name, OTHER.pw_uid + 1, "linux", "only root can become another account"),
        (OTHER.pw_name, 0, "darwin", "works on Linux only"),
    ],
)
def test_who_becomes_whom(text: str | None, uid: int, platform: str, outcome: int | str | None) -> None:
    if isinstance(outcome, str):
        with pytest.raises(ConfigError, match=outcome):
            wanted_account(text, uid=uid, platform=platform)
        return
    account = wanted_account(text, uid=uid, platform=platform)
    assert (account and account.uid) == outcome


@pytest.mark.parametrize(
    ("changed", "left"),
    [
        ({}, ""),
        ({"Groups": ()}, ""),
        ({"Uid": ("7", "7", "0", "7")}, "Uid"),
        ({"Uid": ("0", "7", "7", "7")}, "Uid"),
        ({"Gid": ("8", "8", "8", "0")}, "Gid"),
        ({"Groups": ("0", "8")}, "Groups"),
        ({"CapEff": ("0000000000000400",)}, "CapEff"),
        ({"CapPrm": ("0000000000000400",)}, "CapPrm"),
        ({"CapAmb": ("0000000000000001",)}, "CapAmb"),
    ],
)
def test_what_is_left_of_root(changed: dict[str, Any], left: str) -> None:
    assert still_privileged({**CLEAN, **changed}, 7, 8, frozenset((8, 9))) == left


def test_a_thread_that_has_ended_has_nothing_left() -> None:
    assert still_privileged({}, 7, 8, frozenset()) == ""


def test_every_thread_of_this_process_is_looked_at() -> None:
    threads = standing_of_threads()
    assert str(os.getpid()) in threads
    assert all(standing["Uid"][1] == str(os.geteuid()) for standing in threads.values() if standing)
