"""All that a start would refuse of a configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from lapwing._core import Authority, CoreError, Node
from lapwing.auth import read_users
from lapwing.broker_parts import choosers_of, dispatcher_of
from lapwing.certificate_times import certificate_notices
from lapwing.config import access_json, node_json
from lapwing.config.openness import users_notices
from lapwing.errors import ConfigError, LapwingError, from_core
from lapwing.rehearsal.folders import folder_faults
from lapwing.rehearsal.ports import port_faults

if TYPE_CHECKING:
    from lapwing.config import Config


def start_faults(config: Config, *, is_running: bool = False) -> list[LapwingError]:
    """Every fault, in the order of a start.

    Args:
        config: The whole configuration.
        is_running: A broker runs with it: its ports and its folder are taken, by itself.
    """
    looks: list[Callable[[], Iterable[LapwingError]]] = [
        lambda: _access_faults(config),
        lambda: _node_faults(config),
        lambda: _http_faults(config),
        lambda: _bridge_faults(config),
    ]
    if not is_running:
        looks += [lambda: folder_faults(config), lambda: port_faults(config)]
    found = [fault for look in looks for fault in _told(look)]
    return list({str(fault): fault for fault in found}.values())


def start_notices(config: Config, now_s: float) -> list[str]:
    """What a start would say of the files' contents, and take: certificates out of their time, no users in their file.

    Args:
        config: The whole configuration.
        now_s: Seconds since 1970, UTC.
    """
    told = certificate_notices(config, now_s, with_lists=True)
    if config.auth.users is not None:
        with suppress(ConfigError):  # a fault, and told as one
            told += users_notices(config, len(read_users(config.auth.users)))
    return told


def _told(look: Callable[[], Iterable[LapwingError]]) -> Iterator[LapwingError]:
    """What ``look`` finds, and what stops it."""
    try:
        yield from look()
    except CoreError as error:
        yield from_core(error)
    except ConfigError as error:
        yield from error.problems or [error]
    except LapwingError as error:
        yield error


def _access_faults(config: Config) -> Iterator[LapwingError]:
    """Users and rules: read, and understood by what judges by them."""
    Authority(access_json(config))
    yield from ()


def _node_faults(config: Config) -> Iterator[LapwingError]:
    """Hooks and strategies are loaded, as at the start; then the node looks at its settings and the files of TLS."""
    parts: list[LapwingError] = []
    dispatcher, strategies = None, {}
    for load in (lambda: dispatcher_of(config, None), lambda: choosers_of(config)):
        try:
            loaded = load()
        except LapwingError as error:
            parts.append(error)
        else:
            if isinstance(loaded, dict):
                strategies = loaded
            else:
                dispatcher = loaded
    yield from parts
    if parts or (config.auth.users is not None and not config.auth.users.exists()):
        # The node is asked about the rest without them.
        bare = {"auth": config.auth.model_copy(update={"users": None}), "groups": {} if parts else config.groups}
        config, dispatcher, strategies = config.model_copy(update=bare), None, {} if parts else strategies
    node = Node(node_json(config), dispatcher, strategies)
    for what, remedy in node.listener_faults():
        yield ConfigError(what.rstrip("."), remedy=remedy)


def _http_faults(config: Config) -> Iterator[LapwingError]:
    if config.broker.http is not None and config.http.certificate is not None:
        # Imported only here: it doubles the time that this takes.
        from lapwing.http.tls import server_context

        server_context(config.http)
    yield from ()


def _bridge_faults(config: Config) -> Iterator[LapwingError]:
    """The files that the bridge would open."""
    if config.bridge.to_kafka or config.bridge.to_mqtt:
        yield from _unreadable(config.bridge, "bridge")


def _unreadable(table: BaseModel, key: str) -> Iterator[LapwingError]:
    for name in type(table).model_fields:
        value = getattr(table, name)
        if isinstance(value, BaseModel):
            yield from _unreadable(value, f"{key}.{name}")
        elif isinstance(value, Path) and not (value.is_file() and os.access(value, os.R_OK)):
            remedy = "name a file that exists and that the bridge may read"
            yield ConfigError(f"{key}.{name} cannot be read", where=str(value), remedy=remedy)
