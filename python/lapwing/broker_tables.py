"""The settings of a broker as Python code gives them: tables by name, each a model or a mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from lapwing.config import Config, GroupConfig, HoldConfig, ListenerConfig, StreamConfig, TopicConfig
from lapwing.config.limit_pairs import check_limits
from lapwing.config.problems import config_error

ListenerLike = ListenerConfig | Mapping[str, object]
"""A listener's settings, as in a ``[[listeners]]`` table."""

GroupLike = GroupConfig | Mapping[str, object]
"""A consumer group's settings, as in a ``[groups."NAME"]`` table."""

HoldLike = HoldConfig | Mapping[str, object]
"""What waits for its first subscriber, as in a ``[hold."FILTER"]`` table."""

TopicLike = TopicConfig | Mapping[str, object]
"""What holds for messages of some topics, as in a ``[topics."FILTER"]`` table."""

StreamLike = StreamConfig | Mapping[str, object] | str
"""A stream's settings; a string is the filter of a stream with default settings."""


def stream_tables(streams: Mapping[str, StreamLike]) -> dict[str, object]:
    """Streams by name, each as in its ``[streams.NAME]`` table."""
    return {name: {"filter": stream} if isinstance(stream, str) else stream for name, stream in streams.items()}


def broker_table(
    listen: str | Sequence[str] | None, listeners: Sequence[ListenerLike], **others: object
) -> dict[str, object]:
    """The ``[broker]`` table; with no listener at all there is one at a free port of loopback."""
    if listen is None:
        listen = () if listeners else ("tcp://127.0.0.1:0",)
    return {"listen": [listen] if isinstance(listen, str) else list(listen), **others}


def given_tables(**tables: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """Tables by name; one that is None is empty: its defaults hold."""
    return {name: dict(table or {}) for name, table in tables.items()}


def put_group_json(name: str, group: GroupLike) -> str:
    """The table that ``put_group`` replaces or adds, as its node is told it.

    Raises:
        ConfigError: a key or value is wrong; every one is named.
    """
    # Imported only where it is needed: a broker without groups starts without it.
    from lapwing.config.one_group import group_json, parse_group

    return group_json(group if isinstance(group, GroupConfig) else parse_group(name, group, "put_group"))


def checked_config(document: Mapping[str, Any]) -> Config:
    """The configuration that ``document`` is, laid out like a configuration file.

    Raises:
        ConfigError: a setting is wrong; every problem is listed.
    """
    try:
        config = Config(**document)
    except ValidationError as error:
        raise config_error(error, Config, ()) from error
    check_limits(config)
    return config
