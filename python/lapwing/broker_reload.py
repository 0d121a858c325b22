"""What a running broker takes over of a configuration that was read again, as its node is told it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lapwing.config import Config


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
