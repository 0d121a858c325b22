"""The table ``[auth]``: who is known; ``access_json`` hands users and rules to the Rust side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lapwing.auth.users_file import read_users
from lapwing.config.http_check import HttpCheckSection, http_check_table
from lapwing.config.jwt import JwtSection, jwt_table
from lapwing.config.off import OptionalFile
from lapwing.config.units import Duration

if TYPE_CHECKING:
    from lapwing.config.model import Config


class AuthSection(BaseModel):
    """Who is known: by password, by token, by certificate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    users: OptionalFile = None
    """File of users, as `lapwing user` writes it; read at start and at SIGHUP.
    "off": names and passwords mean nothing."""

    certificates: Literal["listed", "any"] = "listed"
    """Whose certificate counts: "listed" wants its name in the users file, where there is one."""

    no_users: bool = False
    """There are no users, on purpose: without this a reload does not drop those that there were."""

    no_rules: bool = False
    """There are no rules, on purpose: without this a reload does not drop those that there were."""

    failures_window: Duration = Field(default=60_000, ge=1, le=86_400_000)
    """Wrong passwords over MQTT are counted for so long, from the first one on."""

    failures_max: int = Field(default=100, ge=0, le=2**32 - 1)
    """Wrong passwords of one address in that time that bar it: nothing more is checked for it. 0: never."""

    failures_name_max: int = Field(default=20, ge=0, le=2**32 - 1)
    """Wrong passwords for one user name from one address that bar that name from there. 0: never."""

    failures_bar: Duration = Field(default=300_000, ge=1)
    """How long a bar lasts; `lapwing bans` lists and lifts them."""

    failures_bar_local: bool = False
    """Bar loopback and Unix sockets too; whoever comes through a proxy here may have their address."""

    failures_per_s: int = Field(default=4, ge=1, le=1_000)
    """Refusals that go out to one address, and for one name, in a second; the first 8 at once."""

    failures_delay_max: Duration = Field(default=30_000, le=600_000)
    """How long a refusal waits for that at most. 0: none waits."""

    failures_delayed_max: int = Field(default=4_096, ge=0, le=2**32 - 1)
    """Connections that wait for their refusal; one more is refused at once."""

    failures_records_max: int = Field(default=10_000, ge=1, le=2**32 - 1)
    """Addresses, names, and names from an address that are remembered, so many of each; those with the fewest failures
    make room."""

    jwt: JwtSection = JwtSection()

    http: HttpCheckSection = HttpCheckSection()

    @property
    def knows_somebody(self) -> bool:
        """Whether there is anything that a name and a password are checked against."""
        return self.users is not None or self.jwt.is_on or self.http.is_on


def access_tables(config: Config) -> dict[str, Any]:
    """``auth`` and ``rules`` as the node's configuration has them; the users file and files of keys are read now.

    Raises:
        ConfigError: one of them cannot be read, or the users file is wrong.
    """
    auth = {
        "users": _known(config.auth.users),
        "certificates": config.auth.certificates,
        "jwt": jwt_table(config.auth.jwt),
        "outside": http_check_table(config.auth.http),
    }
    return {"auth": auth, "rules": [rule.model_dump() for rule in config.rules]}


def user_names(tables: Mapping[str, Any]) -> list[str] | None:
    """The names of all users in what ``access_tables`` has read; None: there is no users file."""
    users = tables["auth"]["users"]
    return None if users is None else [user["name"] for user in users]


def guess_table(auth: AuthSection) -> dict[str, Any]:
    """What the node is told of wrong passwords, in its names and units."""
    return {
        "window_ms": auth.failures_window,
        "failures_max": auth.failures_max,
        "name_failures_max": auth.failures_name_max,
        "bar_ms": auth.failures_bar,
        "bar_local": auth.failures_bar_local,
        "refusals_per_s": auth.failures_per_s,
        "delay_ms_max": auth.failures_delay_max,
        "delayed_max": auth.failures_delayed_max,
        "records_max": auth.failures_records_max,
    }


def _known(file: Path | None) -> list[dict[str, Any]] | None:
    if file is None:
        return None
    users = read_users(file).values()
    return [{"name": user.name, "password": user.password, "tokens": list(user.tokens.values())} for user in users]


def access_json(config: Config) -> str:
    """What ``lapwing._core.Authority`` is made from and reloaded with."""
    return json.dumps(access_tables(config))
