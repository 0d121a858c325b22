"""``lapwing user add|remove|list|token``: the users file, without a broker."""

from __future__ import annotations

import sys
from collections.abc import Container
from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import ConfigFile, echo_json, examples, table
from lapwing.errors import ConfigError, LapwingError

app = typer.Typer(help="Add, remove and list users, and give them tokens.", no_args_is_help=True)

UsersFile = Annotated[
    Path | None,
    typer.Option(
        "--users",
        metavar="FILE",
        envvar="LAPWING_AUTH__USERS",
        help="The users file; default: auth.users of --config, else users.toml.",
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
_FILE_DEFAULT = Path("users.toml")
_PASSWORD_BYTES_MAX = 65_535  # what a CONNECT can carry


@app.command(
    epilog=examples(
        "lapwing user add alice",
        "pass show lapwing/alice | lapwing user add alice --password-stdin --replace",
        "lapwing user add sensor-7 --no-password --users /etc/lapwing/users.toml",
    )
)
def add(
    name: Name,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input, one line.")
    ] = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="None: for a user with tokens or a certificate.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Set another password for a user there is.")] = False,
    users: UsersFile = None,
    config: ConfigFile = None,
) -> None:
    """Add a user, or set its password anew.

    Asks for the password twice, without showing it; it is never an argument, which other users of the machine
    could read. A running broker takes the file over at SIGHUP.
    """
    from lapwing.auth import User, read_users, update_users

    _check_name(name)
    if password_stdin and no_password:
        raise ConfigError("--password-stdin and --no-password exclude each other", remedy="give one of them")
    file = _file(users, config)
    if file.exists():
        _check_new(name, read_users(file), replace=replace)  # before anybody types a password
    hashed = None if no_password else _hash(_read_password() if password_stdin else _ask_password(name))
    with update_users(file) as known:
        _check_new(name, known, replace=replace)
        known[name] = User(name, hashed, known[name].tokens if name in known else {})


@app.command(epilog=examples("lapwing user remove alice"))
def remove(name: Name, users: UsersFile = None, config: ConfigFile = None) -> None:
    """Remove a user with its password and tokens.

    A running broker ends its sessions at SIGHUP.
    """
    from lapwing.auth import update_users

    with update_users(_file(users, config)) as known:
        if known.pop(name, None) is None:
            raise _unknown(name)


@app.command("list", epilog=examples("lapwing user list", "lapwing user list --json | jq -r .name"))
def list_(
    users: UsersFile = None,
    config: ConfigFile = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """List users: how each can show who it is, and the names of its tokens."""
    from lapwing.auth import read_users

    known = read_users(_file(users, config)).values()
    if json:
        for user in known:
            echo_json({"name": user.name, "kinds": user.kinds, "tokens": list(user.tokens)})
        return
    # A name that would not show as it is stands in quotes, with its escapes.
    rows = [(_shown(user.name), ",".join(user.kinds), ",".join(user.tokens)) for user in known]
    typer.echo(table(rows, ("NAME", "KINDS", "TOKENS")))


@app.command(
    epilog=examples(
        "lapwing user token spark",
        "lapwing user token spark --name cluster > token.txt",
        "lapwing user token spark --name cluster --revoke",
    )
)
def token(
    name: Name,
    label: Annotated[str, typer.Option("--name", metavar="TOKEN", help="Its name among this user's.")] = "default",
    revoke: Annotated[bool, typer.Option("--revoke", help="Remove the token of that name.")] = False,
    users: UsersFile = None,
    config: ConfigFile = None,
) -> None:
    """Print a new token for a user, this one time: only its SHA-256 is kept.

    It counts over HTTP ("Authorization: Bearer TOKEN") and as the user's password over MQTT. One of the same
    name is replaced.
    """
    from lapwing.auth import new_token, update_users

    _check_token_name(label)
    made = None
    with update_users(_file(users, config)) as known:
        if (user := known.get(name)) is None:
            raise _unknown(name)
        if revoke:
            if user.tokens.pop(label, None) is None:
                raise LapwingError(f"{name!r} has no token {label!r}", remedy="lapwing user list shows them")
        else:
            made, user.tokens[label] = new_token()
    if made is not None:
        typer.echo(made)


def _file(users: Path | None, config: Path | None) -> Path:
    if users is not None or config is None:
        return users or _FILE_DEFAULT
    from lapwing.config import load

    return load(config, environment={}).config.auth.users or _FILE_DEFAULT


def _check_name(name: str) -> None:
    from lapwing.auth.names import check_fillable, check_shown, parse_user_name

    try:
        parse_user_name(name)
        check_fillable(name)
        check_shown(name)
    except ValueError as error:
        raise ConfigError(f"{name!a} cannot be a user: {error}", remedy="choose another name") from None


def _shown(name: str) -> str:
    from lapwing._core import unseen_in_name

    return name if unseen_in_name(name) is None else ascii(name)


def _check_token_name(name: str) -> None:
    from lapwing.auth.names import parse_token_name

    try:
        parse_token_name(name)
    except ValueError as error:
        raise ConfigError(f"{name!a} cannot be a token: {error}", remedy="choose another name") from None


def _check_new(name: str, known: Container[str], *, replace: bool) -> None:
    if name in known and not replace:
        raise LapwingError(f"there is a user {name!r} already", remedy="--replace sets another password")


def _unknown(name: str) -> LapwingError:
    return LapwingError(f"there is no user {name!a}", remedy="lapwing user list shows them")


def _read_password() -> bytes:
    line = sys.stdin.buffer.readline(_PASSWORD_BYTES_MAX + 2)
    return line.removesuffix(b"\n").removesuffix(b"\r")


def _ask_password(name: str) -> bytes:
    import getpass

    if not sys.stdin.isatty():
        raise ConfigError("there is no terminal to ask for the password at", remedy="pipe it to --password-stdin")
    first = getpass.getpass(f"Password for {name}: ")
    if getpass.getpass("The same again: ") != first:
        raise LapwingError("the two passwords differ", remedy="nothing was changed; try again")
    return first.encode()


def _hash(password: bytes) -> str:
    from lapwing._core import hash_password

    if not password:
        raise ConfigError("the password is empty", remedy="give one, or --no-password")
    if len(password) > _PASSWORD_BYTES_MAX:
        raise ConfigError(f"the password is longer than {_PASSWORD_BYTES_MAX} bytes", remedy="give a shorter one")
    return hash_password(password)
