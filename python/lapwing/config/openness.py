"""No open door by accident: a listener that other machines can reach must know who connects.

Looked at once the whole configuration is known, because what tells who connects stands elsewhere in it. Which listener
is open the Rust side decides (``lapwing.config.entrance``); here stands where that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lapwing import _core
from lapwing.config.entrance import entrance_json
from lapwing.config.layers import KeyPath, Layer
from lapwing.config.problems import place_of, show_key
from lapwing.errors import ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config.model import Config


def check_listeners(config: Config, layers: Sequence[Layer] = (), *, has_hooks: bool = False) -> None:
    """Looks at every listener.

    Args:
        config: The whole configuration.
        layers: Where its values were set, the strongest first.
        has_hooks: Hooks decide who may come, beside what the configuration says.

    Raises:
        ConfigError: with every listener that nobody guards, or that nobody could come through.
    """
    found = _core.unguarded_listeners(entrance_json(config, has_hooks=has_hooks))
    problems = [_problem(tuple(path), url, remedy, layers) for path, url, remedy in found]
    if problems:
        raise ConfigError("the configuration is wrong", problems=problems)


def users_notices(config: Config, names: list[str] | None) -> list[str]:
    """What to say of a users file: it has no users while nobody else is asked, for a start may come before the first of
    them; or users whose names have something that nobody sees.

    Args:
        config: The whole configuration.
        names: Of all in the file; None: there is none.
    """
    notice = _core.users_notice(names, config.auth.jwt.is_on or config.auth.http.is_on)
    return [] if notice is None else [f"auth.users = {str(config.auth.users)!r} {notice}"]


def guards_of_mqtt(config: Config, *, has_hooks: bool = False) -> str:
    """What keeps somebody without a name from MQTT beside users and rules, in words; empty: nothing does.

    Args:
        config: The whole configuration.
        has_hooks: Hooks judge clients, beside what the configuration says.
    """
    if has_hooks or config.hooks.use is not None:
        return "hooks"
    return _core.guards_of_mqtt(entrance_json(config))


def _problem(path: KeyPath, url: str | None, remedy: str, layers: Sequence[Layer]) -> LapwingError:
    shown = "[]" if url is None else f'"{url}"'
    return LapwingError(f"{show_key(path)} = {shown}", where=place_of(path, layers) or "given in Python", remedy=remedy)
