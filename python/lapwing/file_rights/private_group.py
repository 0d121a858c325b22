"""The account's own group, wherever this machine keeps its accounts (files, LDAP)."""

from __future__ import annotations

import grp
import pwd

from lapwing._core import is_private_group


def private_group(uid: int) -> int | None:
    """The group that has the name of the account ``uid`` and no other member; None: it has none."""
    try:
        account = pwd.getpwuid(uid)
        group = grp.getgrgid(account.pw_gid)
    except KeyError:
        return None
    return group.gr_gid if is_private_group(account.pw_name, group.gr_name, group.gr_mem) else None
