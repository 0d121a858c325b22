"""What ``lapwing cluster status`` prints of ``GET /v1/cluster``, and its exit code: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lapwing.cli.store_lines import size
from lapwing.text import one_line

CLUSTER_HEAD = ("NODE", "ROLE", "VOTES", "BEHIND", "DISK", "SKEW", "ADDRESS", "VERSION")
_UNKNOWN = "-"
_ALL_WELL, _FEWER, _NOBODY_SERVES = 0, 1, 2

Status = Mapping[str, Any]


def role(node: Status, status: Status) -> str:
    """What a node is, as the one that was asked sees it: active, arriving, standby, catching up, down, gone."""
    if node["standing"] == "gone":
        return "gone"
    if node["node"] == status["node"]:
        return str(status["role"])
    if node["node"] == status["leader"]:
        # Who leads serves, or is about to.
        return "active"
    if not node["is_connected"]:
        return "down"
    return "catching up" if node["is_catching_up"] else "standby"


def node_row(node: Status, status: Status) -> tuple[str, ...]:
    """A node's cells under `CLUSTER_HEAD`."""
    behind = _UNKNOWN if node["behind"] is None else f"{node['behind']:,}"
    addresses = " ".join(map(one_line, node["addresses"]))
    votes = {"voter": "yes", "learner": "no"}.get(node["standing"], "-")
    first = (one_line(node["name"]), role(node, status), votes, behind, _disk(node), _skew(node))
    return (*first, addresses, one_line(node["release"]))


def _disk(node: Status) -> str:
    """What is free where its data folder lies, or what is wrong there, as it says itself."""
    if node["disk"] in ("low", "full"):
        return str(node["disk"])
    return _UNKNOWN if node["disk_free_bytes"] is None else size(node["disk_free_bytes"])


def _skew(node: Status) -> str:
    """Its clock less that of the node that was asked."""
    skew_ms = node["skew_ms"]
    if skew_ms is None:
        return _UNKNOWN
    return f"{skew_ms:,} ms" if abs(skew_ms) < 10_000 else f"{skew_ms / 1000:,.0f} s"


def exit_code(status: Status) -> int:
    """0: one serves, and all are there; 1: it serves without all, or a replica has stopped; 2: none serves."""
    roles = [role(node, status) for node in status["nodes"]]
    if "active" not in roles:
        return _NOBODY_SERVES
    is_whole = not status["stopped"] and "down" not in roles
    return _ALL_WELL if is_whole else _FEWER


def summary(status: Status) -> list[str]:
    """What there is to say beside the table."""
    if not status["nodes"]:
        return ["this node has not heard from its cluster yet: see its log for who does not speak to it"]
    asked = next((node["name"] for node in status["nodes"] if node["node"] == status["node"]), "")
    lines = [f"cluster {one_line(status['name'])}, term {status['term']}, as {one_line(asked)} sees it"]
    if status["uncommitted_age_ms"]:
        age_s = status["uncommitted_age_ms"] / 1000
        lines.append(f"the oldest batch that is not committed waits for {age_s:,.1f} s")
    if status["hindrance"]:
        lines.append(f"{one_line(asked)} is to serve and cannot: {one_line(status['hindrance'])}")
    lines += [f"group {group} has stopped here: {one_line(why)}" for group, why in status["stopped"].items()]
    names = {str(node["node"]): node["name"] for node in status["nodes"]}
    lines += [
        f"{one_line(names.get(node, node))} does not speak to {one_line(asked)}: {one_line(words)}"
        for node, words in status["refusals"].items()
    ]
    return lines
