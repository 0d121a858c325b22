"""No open door by accident: a listener that other machines can reach must know who connects.

Looked at once the whole configuration is known, because what tells who connects stands elsewhere in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lapwing.config.addresses import has_tls, is_local, scheme_of, speaks_sn
from lapwing.config.layers import KeyPath, Layer
from lapwing.config.listeners import ListenerConfig
from lapwing.config.problems import place_of, show_key
from lapwing.errors import ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config.model import Config

_OPEN = (
    "no open listener beyond loopback without authentication: listen on 127.0.0.1, [::1] or localhost; or name the"
    " users (auth.users); or take tokens (auth.jwt), or ask somebody (auth.http); or make it a [[listeners]] table,"
    " with client certificates that name the users, or with anonymous = true for whoever comes"
)
_NOBODY = (
    "nobody could connect: anonymous is false, and there are no users; set auth.users, name the users by client"
    ' certificates (identity = "certificate-cn"), or set anonymous = true for whoever comes'
)

_NO_MQTT_FOR_ALL = ("unix", "sn", "sns")
"""At a socket permission bits decide, and those of this machine who can reach HTTP are more. MQTT-SN is for devices:
it says nothing of who may come to MQTT."""

_OPEN_SN = (
    "no open listener beyond loopback without authentication, and MQTT-SN has none: listen on 127.0.0.1, [::1] or"
    " localhost; or make it a [[listeners]] table with anonymous = true, and say by rules what a client id may do;"
    " or listen at sns:// with client certificates or keys (psk) that name the users"
)


def check_listeners(config: Config, layers: Sequence[Layer] = (), *, has_hooks: bool = False) -> None:
    """Looks at every listener.

    Args:
        config: The whole configuration.
        layers: Where its values were set, the strongest first.
        has_hooks: Hooks decide who may come, beside what the configuration says.

    Raises:
        ConfigError: with every listener that nobody guards, or that nobody could come through.
    """
    knows_users = has_hooks or config.auth.knows_somebody or config.hooks.use is not None
    short = [
        (("broker", "listen", str(n)), url, _short(url, knows_users)) for n, url in enumerate(config.broker.listen)
    ]
    full = [
        (("listeners", str(n), "url"), listener.url, _full(listener, knows_users))
        for n, listener in enumerate(config.listeners)
    ]
    problems = [_problem(path, f'"{url}"', what, layers) for path, url, what in short + full if what]
    if not short and not full:
        problems.append(_problem(("broker", "listen"), "[]", "name an address, or add a [[listeners]] table", layers))
    if problems:
        raise ConfigError("the configuration is wrong", problems=problems)


def users_notices(config: Config, users: int | None) -> list[str]:
    """What to say of a users file without users, while nobody else is asked: a start may come before the first of them.

    Args:
        config: The whole configuration.
        users: How many are in the file; None: there is none.
    """
    if users != 0 or config.auth.jwt.is_on or config.auth.http.is_on:
        return []
    return [
        f"auth.users = {str(config.auth.users)!r} has no users: nobody comes in by a password or as a user; add them"
        " with lapwing user add NAME, and send SIGHUP"
    ]


def guards_of_mqtt(config: Config, *, has_hooks: bool = False) -> str:
    """What keeps somebody without a name from MQTT beside users and rules, in words; empty: nothing does.

    Args:
        config: The whole configuration.
        has_hooks: Hooks judge clients, beside what the configuration says.
    """
    if has_hooks or config.hooks.use is not None:
        return "hooks"
    # One listener that takes whoever comes is enough: who cannot come through another comes through that.
    if any(is_local(url) and scheme_of(url) not in _NO_MQTT_FOR_ALL for url in config.broker.listen):
        return ""
    if any(map(_takes_everybody, config.listeners)):
        return ""
    is_certified = any(listener.client_certificate != "none" for listener in config.listeners)
    return "client certificates" if is_certified else "its listeners (anonymous, MQTT-SN, or a Unix socket's mode)"


def _takes_everybody(listener: ListenerConfig) -> bool:
    is_guarded = listener.client_certificate == "required" or scheme_of(listener.url) in _NO_MQTT_FOR_ALL
    return listener.takes_anonymous and not is_guarded


def _short(url: str, knows_users: bool) -> str | None:
    if has_tls(url):
        return "write it as a [[listeners]] table: TLS needs certificate and key"
    if speaks_sn(url):
        return None if is_local(url) else _OPEN_SN
    return None if is_local(url) or knows_users else _OPEN


def _full(listener: ListenerConfig, knows_users: bool) -> str | None:
    if speaks_sn(listener.url):
        is_named = listener.identity != "password" or listener.psk is not None
        return None if listener.takes_anonymous or is_named else _OPEN_SN
    if knows_users or listener.takes_anonymous or listener.identity != "password":
        return None
    return _NOBODY if listener.anonymous is False else _OPEN


def _problem(path: KeyPath, shown: str, what: str, layers: Sequence[Layer]) -> LapwingError:
    return LapwingError(f"{show_key(path)} = {shown}", where=place_of(path, layers) or "given in Python", remedy=what)
