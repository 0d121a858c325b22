"""The node's consumer groups, a page at a time.

Clients choose how many groups there are and how long their names: a page is bounded by number and by bytes, and each
group is parsed for itself, for the parser holds the interpreter's lock as long as it is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Protocol

PAGE_BYTES_MAX = 4 << 20
"""A page ends with the group with which it has so many bytes."""
_GROUPS_PER_PAGE = 1_000


class GroupPages(Protocol):
    """What is asked of the node."""

    def groups(
        self, name: str | None, after: str | None, limit: int, bytes_max: int
    ) -> tuple[list[str], int, str | None]:
        """Groups as JSON, how many there are, and the next page's ``after``."""


def group_page(node: GroupPages, *, after: str | None, limit: int) -> dict[str, Any]:
    """``groups`` by name and filter, how many there are (``matching``), and what to go on after (``next``, or None)."""
    groups, matching, following = node.groups(None, after, limit, PAGE_BYTES_MAX)
    return {"groups": [json.loads(group) for group in groups], "matching": matching, "next": following}


def every_group(node: GroupPages, name: str | None = None) -> Iterator[dict[str, Any]]:
    """All groups, or those of one share name, by name and filter."""
    following = None
    while True:
        groups, _, following = node.groups(name, following, _GROUPS_PER_PAGE, PAGE_BYTES_MAX)
        yield from map(json.loads, groups)
        if following is None:
            return
