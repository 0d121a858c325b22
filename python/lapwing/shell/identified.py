"""Who a client is that ``connect`` makes: as its line says, else as the shell was started."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from lapwing.client.identity import Identity
from lapwing.client_url import check_tls_files
from lapwing.credentials import PASSWORD_VARIABLE, read_secret
from lapwing.errors import ConfigError
from lapwing.shell.verbs import Connect


def identified(
    command: Connect, url: str, who: Identity, *, same_broker: bool, ask_password: Callable[[str], str] | None
) -> Connect:
    """``command`` with user, password and files filled in.

    Args:
        command: What the line said.
        url: The broker that it is about.
        who: What the shell was started with; its user is for its own broker only, whatever is behind another URL, and
            its files are for those with TLS.
        same_broker: Whether this is that broker.
        ask_password: Asks somebody; None: nobody is there.

    Raises:
        ConfigError: a password's file cannot be read, or there is a password and no user; or a file is for TLS, and the
            broker's URL has none.
    """
    check_tls_files(url, {"--ca": command.ca, "--cert": command.certificate, "--key": command.key})
    who = who.at(url)
    command = replace(
        command,
        ca=command.ca or who.ca,
        certificate=command.certificate or who.certificate,
        key=command.key or (None if command.certificate else who.key),
    )
    if command.username is None:
        if command.password is not None or command.password_file is not None:
            raise ConfigError("a password without --username", remedy="give the user name too")
        known = who if same_broker else Identity()
        return replace(command, username=known.username, password=known.password)
    return replace(command, password=_password(command, ask_password, same_broker=same_broker))


def _password(command: Connect, ask_password: Callable[[str], str] | None, *, same_broker: bool) -> str | None:
    if command.password_file is not None:
        return read_secret(command.password_file, "password")
    if command.password is not None:
        return command.password
    found = os.environ.get(PASSWORD_VARIABLE) if same_broker else None
    if found is None and ask_password is not None and command.username is not None:
        found = ask_password(command.username)
    return found
