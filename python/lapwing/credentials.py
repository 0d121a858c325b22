"""Who a program says it is to a broker: a user with a password, a token, or nobody.

- Secrets come from files and the environment; an option that holds one is for programs, not for command lines.
- A secret is in no ``repr``, no error and no URL; it leaves this module as the value of one header, or as the password
  of a CONNECT.
- The standard library alone: Spark's workers import this.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from pathlib import Path

from lapwing.errors import ConfigError
from lapwing.regular_file import read_once

TOKEN_VARIABLE = "LAPWING_TOKEN"  # noqa: S105  (a name, not a secret)
PASSWORD_VARIABLE = "LAPWING_PASSWORD"  # noqa: S105
_SECRET_BYTES_MAX = 4096
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")


class Credentials:
    """Nobody, until `basic` or `bearer` makes somebody of it."""

    __slots__ = ("_secret", "user")

    def __init__(self, user: str | None = None, secret: str | None = None) -> None:
        self.user = user
        self._secret = secret

    @classmethod
    def basic(cls, user: str, password: str) -> Credentials:
        """A user with a password.

        Raises:
            ConfigError: a user name with a colon, which HTTP cannot say.
        """
        if ":" in user or not user:
            raise ConfigError(f"user {user!r} cannot be", remedy="give a user name without a colon")
        return cls(user, password)

    @classmethod
    def bearer(cls, token: str) -> Credentials:
        """A token.

        Raises:
            ConfigError: it has characters that no token has; they are not shown.
        """
        if not _TOKEN.fullmatch(token):
            raise ConfigError("the token has characters that no token has", remedy="give it as it was printed, alone")
        return cls(None, token)

    def headers(self) -> dict[str, str]:
        """The header of a request; none for nobody."""
        if self._secret is None:
            return {}
        if self.user is None:
            return {"Authorization": f"Bearer {self._secret}"}
        pair = f"{self.user}:{self._secret}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}

    def login(self) -> tuple[str | None, str | None]:
        """User name and password of a CONNECT: a token is a password without a user. None, None for nobody."""
        return self.user, self._secret

    def __bool__(self) -> bool:
        return self._secret is not None

    def __repr__(self) -> str:
        if self._secret is None:
            return "Credentials()"
        return f"Credentials(user={self.user!r})" if self.user else "Credentials(a token)"


def find_credentials(
    *,
    user: str | None = None,
    password: str | None = None,
    password_file: str | Path | None = None,
    token: str | None = None,
    token_file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Credentials:
    """The credentials that options, files and the environment give; options win.

    Args:
        user: With a password from ``password``, ``password_file`` or ``LAPWING_PASSWORD``.
        password: The password itself.
        password_file: A file with it.
        token: The token itself.
        token_file: A file with it; otherwise ``LAPWING_TOKEN``.
        environment: Variables; None: those of the process.

    Raises:
        ConfigError: two ways at once, a password without a user, or a file that cannot be read.
    """
    variables = os.environ if environment is None else environment
    given = [name for name, value in (("token", token), ("token file", token_file), ("user", user)) if value]
    if len(given) > 1:
        raise ConfigError(f"{' and '.join(given)} are given", remedy="give one: a user with a password, or a token")
    if user:
        found = (
            read_secret(password_file, "password") if password_file else password or variables.get(PASSWORD_VARIABLE)
        )
        if found is None:
            remedy = f"give a password file, or set {PASSWORD_VARIABLE}"
            raise ConfigError(f"user {user!r} without a password", remedy=remedy)
        return Credentials.basic(user, found)
    if password or password_file:
        raise ConfigError("a password without a user", remedy="give the user too")
    found = read_secret(token_file, "token") if token_file else token or variables.get(TOKEN_VARIABLE)
    return Credentials.bearer(found) if found else Credentials()


def read_secret(path: str | Path, what: str) -> str:
    """The first line of a file.

    Raises:
        ConfigError: it cannot be read, is empty, or is no text of at most 4 KiB; nothing of it is shown.
    """
    where, remedy = str(path), f"give a file whose first line is the {what}"
    try:
        line = read_once(Path(path), _SECRET_BYTES_MAX + 1).partition(b"\n")[0].rstrip(b"\r")
        text = line.decode()
    except OSError as error:
        raise ConfigError(f"cannot read the {what}: {error.strerror}", where=where, remedy=remedy) from error
    except UnicodeDecodeError:
        # Without its cause, which would show bytes of the secret.
        raise ConfigError(f"the {what} is no text", where=where, remedy=remedy) from None
    if not text or len(line) > _SECRET_BYTES_MAX:
        raise ConfigError(f"the {what} is empty or longer than {_SECRET_BYTES_MAX} bytes", where=where, remedy=remedy)
    return text
