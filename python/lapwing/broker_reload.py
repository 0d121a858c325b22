"""What a running broker takes over of a configuration that was read again, as its node is told it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from lapwing.errors import ConfigError

if TYPE_CHECKING:
    from lapwing.config import Config


def check_tables_stay(begun: Mapping[str, str], now: Config, access: Mapping[str, Any]) -> None:
    """All nodes of a cluster have the same users, rules, groups and topics: none can have others while they run.

    Args:
        begun: What `tables_of` gave at the start.
        now: What the configuration says.
        access: What ``lapwing.config.auth.access_tables`` has read of it.

    Raises:
        ConfigError: one is another.
    """
    tables = tables_of(now, access)
    if changed := [name for name, table in tables.items() if begun[name] != table]:
        remedy = "stop all nodes of the cluster, change it at all of them, and start them"
        raise ConfigError(f"{', '.join(changed)} cannot change while a cluster runs", where="[cluster]", remedy=remedy)


def tables_of(config: Config, access: Mapping[str, Any]) -> dict[str, str]:
    """A digest of each table that must be the same at all nodes of a cluster: nobody keeps what users prove."""
    tables = {"groups": config.groups, "hold": config.hold, "topics": config.topics, **access}
    return {name: sha256(_text(table).encode()).hexdigest() for name, table in tables.items()}


def _text(table: object) -> str:
    return json.dumps(table, default=lambda model: model.model_dump(mode="json"))


def reload_json(before: Config, now: Config, access: Mapping[str, Any]) -> str:
    """What ``lapwing._core.Node.reload`` takes: users and rules; tables of topics and groups that are not as they were.

    Args:
        before: What the configuration said when it was read last.
        now: What it says.
        access: What ``lapwing.config.auth.access_tables`` has read of it.
    """
    # Imported only where they are needed: a broker starts sooner.
    from lapwing.config.one_group import changed_tables
    from lapwing.config.topic_tables import topic_tables

    tables: dict[str, Any] = {"access": access, "groups": changed_tables(before.groups, now.groups)}
    if before.topics != now.topics:
        tables["topics"] = topic_tables(now.topics)
    return json.dumps(tables)
