"""What the account that the broker becomes could not use: said at the start, by name, not by a fault days later."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from lapwing.errors import BrokerError, ConfigError, LapwingError
from lapwing.privileges.account import Account

_NAMED_MAX = 3


def make_data_folder(folder: Path, account: Account) -> None:
    """Makes a data folder that is missing, and those above it, for the account; one that is there stays as it is.

    Called as root: the account may not be allowed to make it.

    Raises:
        BrokerError: it cannot be made.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        try:
            path.mkdir(mode=0o700)
            os.chown(path, account.uid, account.gid, follow_symlinks=False)
        except OSError as error:
            raise BrokerError(f"cannot make {path}: {error.strerror}", where="broker.data") from error


def check_reach(account: Account, folder: Path | None, files: Iterable[tuple[str, Path]]) -> None:
    """Called while this process acts as the account.

    Args:
        account: Who it acts as.
        folder: The data folder, if one is used.
        files: What is read at the start and at reloads, each with the key that names it.

    Raises:
        ConfigError: names what cannot be read, or written.
    """
    problems = [
        LapwingError(
            f"{account.name} may not read {path}", where=key, remedy=f"chown {account.name} {shlex.quote(str(path))}"
        )
        for key, path in files
        if not _is_missing(path) and not _may(path, os.R_OK)
    ]
    shut = list(_not_writable(folder)) if folder is not None else []
    if shut:
        named = ", ".join(map(str, shut[:_NAMED_MAX]))
        more = f" and {len(shut) - _NAMED_MAX} more" if len(shut) > _NAMED_MAX else ""
        what, remedy = (
            f"{account.name} may not write {named}{more}",
            f"chown -R {account.name} {shlex.quote(str(folder))}",
        )
        problems.append(LapwingError(what, where="broker.data", remedy=remedy))
    if problems:
        raise ConfigError(f"{account.name} could not run this broker", problems=problems)


def _not_writable(folder: Path) -> Iterator[Path]:
    if not _may(folder, os.R_OK | os.W_OK | os.X_OK):
        yield folder
        return
    for path in sorted(folder.rglob("*")):
        wanted = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
        if not _may(path, wanted):
            yield path


def _is_missing(path: Path) -> bool:
    """Whether it is known that there is none: whoever opens it says so. In a folder that is shut nobody knows."""
    try:
        path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _may(path: Path, wanted: int) -> bool:
    return os.access(path, wanted, effective_ids=True)
