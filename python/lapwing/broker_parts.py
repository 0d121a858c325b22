"""What a broker in this process has beside its node, each imported only where there is one: a broker starts sooner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lapwing._core import Authority
from lapwing.config import Config

if TYPE_CHECKING:
    import socket

    from lapwing._core import Node
    from lapwing.hooks import Hooks
    from lapwing.hooks.dispatch import Dispatcher
    from lapwing.http import HttpServer
    from lapwing.strategy.chooser import Chooser


def has_code(config: Config) -> bool:
    """Whether it names hooks, or a strategy in Python."""
    return config.hooks.use is not None or any(group.use is not None for group in config.groups.values())


def dispatcher_of(config: Config, hooks: Hooks | None) -> Dispatcher | None:
    """What Rust calls of the hooks that are given, or that ``hooks.use`` names; None: there are none.

    Raises:
        ConfigError: they cannot be loaded.
    """
    if hooks is None and config.hooks.use is None:
        return None
    from lapwing.hooks.dispatch import Dispatcher
    from lapwing.hooks.loading import load_hooks

    return Dispatcher(load_hooks(config.hooks.use or "") if hooks is None else hooks)


def choosers_of(config: Config) -> dict[str, Chooser]:
    """One for each strategy in Python that a group's table names; groups that name the same one share it.

    Raises:
        ConfigError: one cannot be loaded.
    """
    uses = {group.use: name for name, group in reversed(config.groups.items()) if group.use is not None}
    if not uses:
        return {}
    from lapwing.strategy.chooser import Chooser
    from lapwing.strategy.loading import load_strategy

    return {use: Chooser(load_strategy(use, name)) for use, name in uses.items()}


def bound_for_http(config: Config) -> list[socket.socket] | None:
    """The sockets of HTTP, bound while this process may bind them, and not listening yet; None: there is no HTTP.

    Raises:
        BrokerError: the address cannot be bound.
    """
    if config.broker.http is None:
        return None
    from lapwing.http import bind_http

    return bind_http(config)


def start_http(
    node: Node, config: Config, access: Mapping[str, Any], bound: Sequence[socket.socket] | None, *, has_hooks: bool
) -> HttpServer | None:
    """The HTTP side of ``node``, listening; None: there is none. It doubles the time a broker takes to start.

    Args:
        node: It runs.
        config: The configuration.
        access: What ``lapwing.config.auth.access_tables`` has read of it.
        bound: What `bound_for_http` has given.
        has_hooks: Hooks judge clients, beside what the configuration says.

    Raises:
        LapwingError: it cannot listen, or a file of its TLS cannot be used.
    """
    if config.broker.http is None:
        return None
    from lapwing.http import serve_http

    return serve_http(node, Authority(json.dumps(access)), config, has_hooks=has_hooks, bound=bound)
