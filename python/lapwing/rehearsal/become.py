"""Whether the account of ``broker.user`` is there, and could use what the configuration names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import LapwingError

if TYPE_CHECKING:
    from lapwing.config import Config
    from lapwing.privileges import Account


def looked_at_account(config: Config, file: Path) -> tuple[Account | None, list[LapwingError], list[str]]:
    """The account, what a start would refuse of it, and what is to be said; None: nobody else, or it is not there.

    Args:
        config: The whole configuration.
        file: Where it was read from.
    """
    user = config.broker.user
    if user is None:
        return None, [], []
    from lapwing.privileges import acting_as, find_account
    from lapwing.privileges.reach import check_reach

    try:
        account = find_account(user)
    except LapwingError as error:
        return None, [error], []
    if os.geteuid() == account.uid:
        return account, [], []
    if os.geteuid() != 0:
        # Who checks need not be who starts.
        return (
            account,
            [],
            [f"broker.user = {user!r}: only root can look at what {account.name} may read, and become it"],
        )
    from lapwing.file_rights.of_config import believed_files

    is_used = config.broker.durability == "disk" or bool(config.streams)
    folder = config.broker.data if is_used and config.broker.data.is_dir() else None  # one that is missing is made
    files = [(found.key, found.path) for found in believed_files(config, file)]
    try:
        with acting_as(account):
            check_reach(account, folder, files)
    except LapwingError as error:
        return account, list(getattr(error, "problems", ())) or [error], []
    return account, [], []
