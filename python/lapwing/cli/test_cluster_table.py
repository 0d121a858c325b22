"""What does `lapwing cluster status` say of a cluster, and with which exit code?"""

from __future__ import annotations

from typing import Any

import pytest

from lapwing.cli.cluster_table import exit_code, node_row, role, summary


def node(number: int, *, connected: bool = True, standing: str = "voter", behind: int | None = None) -> dict[str, Any]:
    return {
        "node": number,
        "name": f"n{number}",
        "zone": "",
        "standing": standing,
        "addresses": [f"10.0.0.{number}:1890"],
        "release": "lapwing/0.1.0",
        "is_connected": connected,
        "behind": behind,
    }


def status(*nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    told = {"name": "marsh", "node": 1, "role": "active", "leader": 1, "term": 4, "hindrance": None}
    return {**told, "stopped": {}, "refusals": {}, "nodes": list(nodes), **changed}


@pytest.mark.parametrize(
    ("found", "roles", "code"),
    [
        (status(node(1), node(2), node(3)), ["active", "standby", "standby"], 0),
        (status(node(1), node(2, connected=False)), ["active", "down"], 1),
        (status(node(1), node(2), stopped={"3": "it lost entries"}), ["active", "standby"], 1),
        (status(node(1), node(2, connected=False, standing="gone")), ["active", "gone"], 0),
        (status(node(1), node(2), role="standby", leader=2), ["standby", "active"], 0),
        (status(node(1), node(2), role="standby", leader=None), ["standby", "standby"], 2),
        (status(node(1), node(2), role="arriving"), ["arriving", "standby"], 2),
    ],
)
def test_who_is_what(found: dict[str, Any], roles: list[str], code: int) -> None:
    assert [role(each, found) for each in found["nodes"]] == roles
    assert exit_code(found) == code


def test_rows_and_words() -> None:
    """Is what a node says of itself shown as one line, whatever is in it?"""
    found = status(node(1), node(2, standing="learner", behind=1200), refusals={"2": "tables\x1b[31m differ"})
    assert node_row(found["nodes"][1], found) == ("n2", "standby", "no", "1,200", "10.0.0.2:1890", "lapwing/0.1.0")
    words = summary({**found, "hindrance": "port 1883 is in use", "stopped": {"16": "it lost entries"}})
    assert words[0] == "cluster marsh, term 4, as n1 sees it"
    assert "\x1b" not in "".join(words)
    assert [line.partition(":")[0] for line in words[1:]] == [
        "n1 is to serve and cannot",
        "group 16 has stopped here",
        "n2 does not speak to n1",
    ]
