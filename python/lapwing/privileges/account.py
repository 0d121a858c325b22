"""Which account ``broker.user`` means, and whether this process can become it."""

from __future__ import annotations

import os
import pwd
import sys
from dataclasses import dataclass

from lapwing.errors import ConfigError

_KEY = "broker.user"


@dataclass(frozen=True, slots=True)
class Account:
    """An account of this machine.

    Attributes:
        name: Its name.
        uid: Its number.
        gid: The number of its own group.
        groups: All groups that it is in, that one too.
    """

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]


def find_account(text: str) -> Account:
    """The account of that name or number.

    Raises:
        ConfigError: there is none, or it is root.
    """
    entry = _entry(text)
    if entry is None:
        remedy = f"make it: useradd --system --shell /usr/sbin/nologin {'lapwing' if text.isdigit() else text}"
        raise ConfigError(f"{_KEY} = {text!r}: there is no such account", where=_KEY, remedy=remedy)
    if entry.pw_uid == 0:
        raise ConfigError(f"{_KEY} = {text!r} is root", where=_KEY, remedy="name an account without rights")
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, tuple(os.getgrouplist(entry.pw_name, entry.pw_gid)))


def _entry(text: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(int(text)) if text.isascii() and text.isdigit() else pwd.getpwnam(text)
    except (KeyError, OverflowError):
        return None


def wanted_account(text: str | None, *, uid: int, platform: str = sys.platform) -> Account | None:
    """The account that a process of ``uid`` has to become; None: nothing is wanted, or it is that one.

    Raises:
        ConfigError: as :func:`find_account`, or this process cannot become another.
    """
    if text is None:
        return None
    account = find_account(text)
    if account.uid == uid:
        return None
    if uid != 0:
        remedy = "start it as root or as that account, or leave broker.user out"
        raise ConfigError(f"{_KEY} = {text!r}: only root can become another account", where=_KEY, remedy=remedy)
    if platform != "linux":
        raise ConfigError(f"{_KEY} works on Linux only", where=_KEY, remedy=f"start the broker as {account.name}")
    return account
