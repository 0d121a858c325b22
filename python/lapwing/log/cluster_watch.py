"""Says once when a member of a cluster begins to serve, when it does so no more, and what keeps it from serving."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lapwing.errors import LapwingError
from lapwing.log.line import LogLine
from lapwing.text import one_line


class ClusterWatch:
    """What there is to say of one member's part in its cluster.

    Args:
        status: Where it stands, as ``Broker.cluster`` gives it.
        urls: Where its clients connect, while it serves.
    """

    def __init__(self, status: Callable[[], Mapping[str, Any]], urls: Callable[[], list[str]]) -> None:
        self._status, self._urls = status, urls
        self._told: tuple[str, str | None] | None = None
        self._hindrance: str | None = None
        self._refusals: dict[str, str] = {}

    def look(self) -> Iterator[LogLine]:
        """What has changed since the last look."""
        try:
            status = self._status()
        except LapwingError:
            return  # it has ended, and says why by itself
        yield from self._role(status)
        yield from self._refused(status)
        if status["hindrance"] != self._hindrance:
            self._hindrance = status["hindrance"]
            if self._hindrance is not None:
                why = one_line(self._hindrance)
                yield LogLine("cluster", "warning", f"is to serve the cluster and cannot: {why}; it tries again")

    def _role(self, status: Mapping[str, Any]) -> Iterator[LogLine]:
        urls: list[str] = []
        if status["role"] == "active":
            try:
                urls = self._urls()
            except LapwingError:
                return  # its listeners are not open yet
        leader = None if urls else _leader(status)
        if (now := ("active" if urls else "standby", leader)) == self._told:
            return
        self._told = now
        if urls:
            text = f"serves cluster {one_line(status['name'])} in term {status['term']}: listens at {', '.join(urls)}"
        elif leader is None:
            text = "stands by; no node is known to serve the cluster"
        else:
            text = f"stands by; {one_line(leader)} serves, or is about to"
        yield LogLine("cluster", "notice", text)

    def _refused(self, status: Mapping[str, Any]) -> Iterator[LogLine]:
        names = {str(node["node"]): node["name"] for node in status["nodes"]}
        for node, words in status["refusals"].items():
            if self._refusals.get(node) != words:
                name = one_line(names.get(node, node))
                yield LogLine("cluster", "warning", f"{name} does not speak to this node: {one_line(words)}")
        self._refusals = dict(status["refusals"])


def _leader(status: Mapping[str, Any]) -> str | None:
    found = (node["name"] for node in status["nodes"] if node["node"] == status["leader"] != status["node"])
    return next(found, None)
