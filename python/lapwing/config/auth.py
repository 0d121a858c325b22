"""The table ``[auth]``: who is known; ``access_json`` hands users and rules to the Rust side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from lapwing.auth.users_file import read_users

if TYPE_CHECKING:
    from lapwing.config.model import Config


class AuthSection(BaseModel):
    """Who is known: by password, by token, by certificate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    users: Annotated[Path | None, BeforeValidator(lambda value: None if value in ("", "off") else value)] = None
    """File of users, as `lapwing user` writes it; read at start and at SIGHUP.
    "off": names and passwords mean nothing."""

    certificates: Literal["listed", "any"] = "listed"
    """Whose certificate counts: "listed" wants its name in the users file, where there is one."""

    no_users: bool = False
    """There are no users, on purpose: without this a reload does not drop those that there were."""

    no_rules: bool = False
    """There are no rules, on purpose: without this a reload does not drop those that there were."""


def access_tables(config: Config) -> dict[str, Any]:
    """``auth`` and ``rules`` as the node's configuration has them; the users file is read now.

    Raises:
        ConfigError: the users file cannot be read, or is wrong.
    """
    auth = {"users": _known(config.auth.users), "certificates": config.auth.certificates}
    return {"auth": auth, "rules": [rule.model_dump() for rule in config.rules]}


def _known(file: Path | None) -> list[dict[str, Any]] | None:
    if file is None:
        return None
    users = read_users(file).values()
    return [{"name": user.name, "password": user.password, "tokens": list(user.tokens.values())} for user in users]


def access_json(config: Config) -> str:
    """What ``lapwing._core.Authority`` is made from and reloaded with."""
    return json.dumps(access_tables(config))
