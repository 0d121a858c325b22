"""Reads the users file; ``lapwing.auth.write`` replaces it.

::

    [users."alice"]
    password = "$argon2id$v=19$m=19456,t=2,p=1$..."

    [users."spark"]
    tokens = { "cluster" = "sha256 of the token" }
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lapwing.auth.names import parse_token_name, parse_user_name
from lapwing.auth.user import User
from lapwing.errors import ConfigError, LapwingError
from lapwing.text import one_line
from lapwing.toml_parse import parse_toml

_Key = tuple[str, ...]
Users = dict[str, User]
"""Users by name, in the order of the file."""

HEAD = "# Written by `lapwing user`, down to its last line. Passwords are kept as argon2id, tokens as SHA-256.\n"
LAST_LINE = "# end of users"
BYTES_MAX = 64 << 20
"""Of the file: of some hundred thousand users."""
_REMEDY = "correct it, or remove the user and add it again with lapwing user"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    password: str | None = Field(default=None, pattern=r"^\$argon2id\$")
    tokens: dict[str, str] = {}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    users: dict[str, _Entry] = {}


def read_users(path: Path) -> Users:
    """Every user by name.

    Raises:
        ConfigError: missing, unreadable, not TOML, or an entry is wrong; names file, line and user, never a hash.
    """
    text = _read(path)
    if is_cut_off(text):
        remedy = "write the users file as a whole, or put it back from a copy"
        raise ConfigError(
            f"the users file was cut off: its last line, {LAST_LINE!r}, is missing", where=str(path), remedy=remedy
        )
    try:
        file = _File.model_validate(parse_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("the users file is not valid TOML", where=f"{path}: {error}", remedy=_REMEDY) from None
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise _wrong(path, text, [(tuple(map(str, detail["loc"])), detail["msg"]) for detail in details]) from None
    users = {name: User(name, entry.password, dict(entry.tokens)) for name, entry in file.users.items()}
    if problems := list(_bad_names(users)):
        raise _wrong(path, text, problems)
    return users


def is_cut_off(text: str) -> bool:
    """Whether a file that says that it has a last line has lost it; who writes a file by hand needs none."""
    return text.startswith(HEAD[:-1]) and LAST_LINE not in text.splitlines()


def _read(path: Path) -> str:
    try:
        if (
            path.exists() and not path.is_file() and not path.is_dir()
        ):  # who reads a pipe waits; a device would be replaced
            raise ConfigError("the users file is no file", where=str(path), remedy="name a file, or make one there")
        with path.open("rb") as file:
            raw = file.read(BYTES_MAX + 1)
            size = max(len(raw), os.fstat(file.fileno()).st_size)
        if len(raw) > BYTES_MAX:
            raise ConfigError(
                f"the users file has {size} bytes, and {BYTES_MAX} is the most",
                where=str(path),
                remedy="check that this is the right file, or take users that nobody needs out of it",
            )
        return raw.decode("utf-8-sig")
    except OSError as error:
        remedy = "make it with lapwing user add NAME, and let the broker's account read it"
        raise ConfigError(f"cannot read the users file: {error.strerror}", where=str(path), remedy=remedy) from error
    except UnicodeDecodeError:
        raise ConfigError("the users file is not UTF-8", where=str(path), remedy=_REMEDY) from None


def _bad_names(users: Users) -> Iterator[tuple[_Key, str]]:
    for user in users.values():
        checks: list[tuple[Callable[[str], str], str, _Key]] = [(parse_user_name, user.name, ())]
        checks += [(parse_token_name, name, ("tokens",)) for name in user.tokens]
        for parse, name, below in checks:
            try:
                parse(name)
            except ValueError as error:
                yield ("users", user.name, *below), str(error)


def _wrong(path: Path, text: str, problems: list[tuple[_Key, str]]) -> ConfigError:
    """One line per problem; lines are looked for only now, because that reads the whole file again."""
    from lapwing.config.toml_lines import key_lines  # that package reads users: it is not there yet when this one loads

    lines = key_lines(text.replace("\r\n", "\n"))
    return ConfigError(
        "the users file is wrong",
        problems=[
            LapwingError(f"{_show(key)}: {reason}", where=f"{path}:{_line(key, lines)}", remedy=_REMEDY)
            for key, reason in problems
        ],
    )


def _show(key: _Key) -> str:
    return ".".join(one_line(part) for part in key)


def _line(key: _Key, lines: dict[_Key, int]) -> int:
    return next((lines[key[:length]] for length in range(len(key), 0, -1) if key[:length] in lines), 1)
