"""Says once when a member of a cluster begins to serve, when it does so no more, what keeps it from that, and whose
clock is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lapwing.errors import LapwingError
from lapwing.log.line import LogLine
from lapwing.text import one_line

SKEW_TOLD_MS, SKEW_OVER_MS = 500, 250
"""A clock that differs by more than the first is told of, and again when it differs by less than the second."""


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
        self._skewed: set[int] = set()

    def look(self) -> Iterator[LogLine]:
        """What has changed since the last look."""
        try:
            status = self._status()
        except LapwingError:
            return  # it has ended, and says why by itself
        yield from self._role(status)
        yield from self._refused(status)
        yield from self._clocks(status)
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

    def _clocks(self, status: Mapping[str, Any]) -> Iterator[LogLine]:
        for node in status["nodes"]:
            number, skew_ms, name = node["node"], node["skew_ms"], one_line(node["name"])
            if skew_ms is None:
                continue  # it is away, and its clock what it was
            if abs(skew_ms) > SKEW_TOLD_MS and number not in self._skewed:
                self._skewed.add(number)
                way = "ahead of" if skew_ms > 0 else "behind"
                what = f"the clock of {name} is {abs(skew_ms):,} ms {way} this node's"
                yield LogLine("cluster", "warning", f"{what}: what expires does so by the one that serves")
            elif abs(skew_ms) < SKEW_OVER_MS and number in self._skewed:
                self._skewed.remove(number)
                yield LogLine("cluster", "notice", f"the clock of {name} agrees with this node's again")

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
