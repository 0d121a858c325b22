"""Steps down from root to an account in two steps: first what is done, then what can be done."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from lapwing.errors import BrokerError
from lapwing.privileges.account import Account
from lapwing.privileges.kernel import (
    may_bind_low_ports,
    no_new_privileges,
    standing_of_threads,
    still_privileged,
)


@contextmanager
def acting_as(account: Account | None) -> Iterator[None]:
    """Inside, files are opened and made as by ``account``; root's own ids are back at the end. None changes nothing.

    Raises:
        BrokerError: the kernel refuses.
    """
    if account is None:
        yield
        return
    before = os.getegid(), os.getgroups()
    _act_as(account)
    try:
        yield
    finally:
        _act_as_root(*before)


class SteppingDown:
    """A block in which this process acts as the account, until :meth:`finish` makes it that account for good.

    Left without that, by an error, the process is what it was.

    Raises:
        BrokerError: the kernel refuses.
    """

    def __init__(self, account: Account) -> None:
        self._account = account
        self._before = os.getegid(), os.getgroups()
        self._is_finished = False

    def __enter__(self) -> Self:
        with _told(self._account):
            no_new_privileges()
            _act_as(self._account)
            may_bind_low_ports()
        return self

    def finish(self) -> None:
        """Gives up what is left of root, on every thread, and looks whether it is gone.

        Raises:
            BrokerError: the kernel refuses, or something is left.
        """
        account = self._account
        with _told(account):
            # The C library carries both out on every thread; once no id is root's, capabilities are gone with it.
            os.setresgid(account.gid, account.gid, account.gid)
            os.setresuid(account.uid, account.uid, account.uid)
        self._is_finished = True
        groups = frozenset(account.groups)
        threads = standing_of_threads()
        left = {still_privileged(standing, account.uid, account.gid, groups) for standing in threads.values()} - {""}
        if left:
            what = f"the broker could not become {account.name}: a thread has kept {', '.join(sorted(left))}"
            raise BrokerError(what, where="broker.user", remedy=f"start it as {account.name}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_finished:
            _act_as_root(*self._before)


def _act_as(account: Account) -> None:
    with _told(account):
        os.setgroups(account.groups)
        os.setegid(account.gid)
        os.seteuid(account.uid)


def _act_as_root(gid: int, groups: list[int]) -> None:
    os.seteuid(0)
    os.setegid(gid)
    os.setgroups(groups)


@contextmanager
def _told(account: Account) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = (
            f"let root have CAP_SETUID and CAP_SETGID here, or start it as {account.name} and leave broker.user out"
        )
        raise BrokerError(
            f"cannot become {account.name}: {error.strerror}", where="broker.user", remedy=remedy
        ) from error
