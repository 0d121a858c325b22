"""Replaces the users file as a whole, one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lapwing.auth.users_file import HEAD, LAST_LINE, Users, read_users
from lapwing.errors import ConfigError

_MODE = 0o600


@contextlib.contextmanager
def update_users(path: Path) -> Iterator[Users]:
    """The users to change; what they are at the end of the block replaces the file, unless the block raises.

    One at a time: a second process waits. A file that is not there yet is made.

    Raises:
        ConfigError: as :func:`read_users`, or the folder cannot be written.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays one
    try:
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _write_error(path, error) from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        users = read_users(path) if target.exists() else {}
        yield users
        try:
            _replace(target, _text(users), folder)
        except OSError as error:
            raise _write_error(path, error) from error
    finally:
        os.close(folder)


def _text(users: Users) -> str:
    blocks = [HEAD]
    for user in users.values():
        lines = [f"[users.{_quoted(user.name)}]"]
        if user.password is not None:
            lines.append(f"password = {_quoted(user.password)}")
        if user.tokens:
            pairs = ", ".join(f"{_quoted(name)} = {_quoted(digest)}" for name, digest in user.tokens.items())
            lines.append(f"tokens = {{ {pairs} }}")
        blocks.append("\n".join(lines) + "\n")
    return "\n".join([*blocks, f"{LAST_LINE}\n"])


def _quoted(text: str) -> str:
    """A basic string of TOML: the escapes of JSON are among its own."""
    return json.dumps(text, ensure_ascii=False)


def _replace(target: Path, text: str, folder: int) -> None:
    """Writes beside the file, syncs, renames over it: nobody sees half of it, also after a power cut."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), _MODE)
            _keep_owner(target, file.fileno())
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    os.fsync(folder)


def _keep_owner(target: Path, descriptor: int) -> None:
    """A file that the broker's account may read stays readable to it when root changes it."""
    if os.geteuid() == 0 and target.exists():
        before = target.stat()
        os.fchown(descriptor, before.st_uid, before.st_gid)


def _write_error(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"cannot write the users file: {error.strerror}", where=str(path), remedy="check the folder and its permissions"
    )
