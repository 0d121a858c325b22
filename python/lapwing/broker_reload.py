"""What a running broker takes over of a configuration that was read again: its tables of topics and of groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lapwing.config import Config

if TYPE_CHECKING:
    from lapwing._core import Node


def reloaded_tables(node: Node, before: Config, now: Config) -> Iterator[dict[str, Any]]:
    """Hands on the tables that are not what they were, and yields each of them, by its field, once it is taken over.

    Args:
        node: The broker.
        before: What the configuration said when it was read last.
        now: What it says.

    Raises:
        CoreError: A table is wrong; those before it were taken over, this one was not.
    """
    # Imported only where they are needed: a broker starts sooner.
    if before.topics != now.topics:
        from lapwing.config.topic_tables import topics_json

        node.change_topics(topics_json(now.topics))
        yield {"topics": now.topics}
    if before.groups != now.groups:
        from lapwing.config.one_group import changes_json

        node.change_groups(changes_json(before.groups, now.groups))
        yield {"groups": now.groups}
