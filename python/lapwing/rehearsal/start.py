"""All that a start would refuse of a configuration."""

from __future__ import annotations

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
from lapwing.config.auth import AuthSection
from lapwing.config.openness import users_notices
from lapwing.errors import ConfigError, LapwingError, from_core
from lapwing.log.printer import printer_of
from lapwing.rehearsal.bridge_files import bridge_faults, unreadable
from lapwing.rehearsal.folders import folder_faults
from lapwing.rehearsal.ports import port_faults

if TYPE_CHECKING:
    from lapwing.config import Config


def start_faults(config: Config, *, is_running: bool = False, runs_code: bool = True) -> list[LapwingError]:
    """Every fault, in the order of a start.

    Args:
        config: The whole configuration.
        is_running: A broker runs with it: its ports and its folder are taken, by itself.
        runs_code: Hooks and strategies are loaded.
    """
    looks: list[Callable[[], Iterable[LapwingError]]] = [
        lambda: _log_faults(config),
        lambda: _access_faults(config),
        lambda: _node_faults(config, runs_code=runs_code),
        lambda: _http_faults(config),
        lambda: bridge_faults(config),
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
            told += users_notices(config, list(read_users(config.auth.users)))
    return told


def _told(look: Callable[[], Iterable[LapwingError]]) -> Iterator[LapwingError]:
    """What ``look`` finds, and what stops it."""
    try:
        yield from look()
    except (CoreError, LapwingError) as error:
        yield from _told_of(error)


def _told_of(error: CoreError | LapwingError) -> Iterator[LapwingError]:
    if isinstance(error, CoreError):
        yield from_core(error)
    elif isinstance(error, ConfigError):
        yield from error.problems or [error]
    else:
        yield error


def _log_faults(config: Config) -> Iterable[LapwingError]:
    """Whether whoever is to have the log is there.

    Raises:
        ConfigError: no journald listens.
    """
    printer_of(config.log)
    return ()


def _access_faults(config: Config) -> Iterator[LapwingError]:
    """Users, keys of tokens, who is asked, and rules: read, and understood by what judges by them, each by itself."""
    auth, nobody = config.auth, AuthSection()
    alone: list[dict[str, object]] = [{"users": auth.users}]
    alone += [{"jwt": auth.jwt.model_copy(update={"key_files": [file]})} for file in auth.jwt.key_files]
    alone += [{"jwt": auth.jwt}] if not auth.jwt.key_files else []
    alone += [{"http": auth.http.model_copy(update={"ca": None})}, {"http": auth.http}]
    faults: list[LapwingError] = []
    for part in alone:
        known = config.model_copy(update={"auth": nobody.model_copy(update=part), "rules": []})
        faults += _told(lambda known=known: _judged(known))  # type: ignore[misc]
    yield from faults
    yield from _judged(config.model_copy(update={"auth": nobody}) if faults else config)


def _judged(config: Config) -> Iterator[LapwingError]:
    Authority(access_json(config))
    yield from ()


def _node_faults(config: Config, *, runs_code: bool) -> Iterator[LapwingError]:
    """Hooks and strategies are loaded, as at the start; then the node looks at its settings and the files of TLS."""
    parts: list[LapwingError] = []
    dispatcher, strategies = None, {}
    for load in (lambda: dispatcher_of(config, None), lambda: choosers_of(config)) if runs_code else ():
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
    if parts or not runs_code:
        # The node is asked about the rest without them.
        config, dispatcher, strategies = config.model_copy(update={"groups": {}}), None, {}
    node: Node | None = None
    try:
        node = Node(node_json(config), dispatcher, strategies)
    except (CoreError, ConfigError) as error:
        yield from _told_of(error)
    if node is None:
        # It may be what tells who comes: what is wrong with the listeners is told all the same.
        node = Node(node_json(config.model_copy(update={"auth": AuthSection()})), dispatcher, strategies)
    faults = [ConfigError(what.rstrip("."), remedy=remedy) for what, remedy in node.listener_faults()]
    yield from faults
    # It names one file of each listener.
    told = "\n".join(map(str, faults))
    for number, listener in enumerate(config.listeners):
        for key, file in _tls_files(listener):
            if str(file) not in told:
                yield from unreadable(file, f"listeners.{number}.{key}", "broker")


def _tls_files(table: BaseModel) -> Iterator[tuple[str, Path]]:
    for key in ("certificate", "key", "client_ca", "crl", "psk"):
        value = getattr(table, key, None)
        for file in value if isinstance(value, list) else [value]:
            if file is not None:
                yield key, file


def _http_faults(config: Config) -> Iterator[LapwingError]:
    if config.broker.http is None or config.http.certificate is None:
        return
    missing = [fault for key, file in _tls_files(config.http) for fault in unreadable(file, f"http.{key}", "broker")]
    yield from missing
    if not missing:
        # Imported only here: it doubles the time that this takes.
        from lapwing.http.server_context import server_context

        server_context(config.http)
