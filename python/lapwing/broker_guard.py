"""What a broker looks at before it opens anything: its files, who it runs as, what it leaves open to others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.certificate_times import certificate_notices
from lapwing.config.exposure import exposures
from lapwing.file_rights import check_files
from lapwing.privileges.program import unreadable_program

if TYPE_CHECKING:
    from lapwing.config import Config


def looked_at(config: Config, file: Path | None = None, *, has_hooks: bool = False) -> list[str]:
    """What is to be said of ``config`` at the start and at each reload, a line each.

    Args:
        config: The whole configuration.
        file: Where it was read from, if from a file.
        has_hooks: Hooks judge clients, beside what the configuration says.

    Raises:
        ConfigError: others may write a file that the broker believes.
    """
    uid = os.geteuid()
    told = exposures(config, is_root=uid == 0, has_hooks=has_hooks)
    if config.broker.user is not None and (path := unreadable_program()):
        told.append(f"{config.broker.user} may not read {path}: what hooks import must have been loaded before")
    return told + check_files(config, uid, file) + certificate_notices(config, time.time())


@contextmanager
def stepping_down(config: Config, file: Path | None = None) -> Iterator[Callable[[], None] | None]:
    """The block in which a broker starts: as the account of ``broker.user``, where that is another one.

    Yields:
        What is to be called once the ports are bound; None: nothing.

    Raises:
        ConfigError: there is no such account, this process cannot become it, or it could not use a file or folder.
        BrokerError: the kernel refuses.
    """
    if config.broker.user is None:
        yield None
        return
    # Imported only where there is an account to become.
    from lapwing.file_rights.of_config import believed_files
    from lapwing.privileges import SteppingDown, wanted_account
    from lapwing.privileges.program import load_ahead
    from lapwing.privileges.reach import check_reach, make_data_folder

    account = wanted_account(config.broker.user, uid=os.geteuid())
    if account is None:
        yield None
        return
    folder = config.broker.data if config.broker.durability == "disk" or config.streams else None
    load_ahead()
    if folder is not None:
        make_data_folder(folder, account)
    with SteppingDown(account) as step:
        check_reach(account, folder, [(found.key, found.path) for found in believed_files(config, file)])
        yield step.finish
