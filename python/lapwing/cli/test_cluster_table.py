"""What does `lapwing cluster status` say of a cluster, and with which exit code?"""

from __future__ import annotations

from typing import Any

import pytest

from lapwing.cli.cluster_table import CLUSTER_HEAD, exit_code, node_row, role, summary
from lapwing.cli.common import table


def node(number: int, *, connected: bool = True, standing: str = "voter", **told: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(("behind", "is_catching_up", "disk", "disk_free_bytes", "skew_ms"))
    return {
        **unknown,
        "node": number,
        "name": f"n{number}",
        "zone": "",
        "standing": standing,
        "addresses": [f"10.0.0.{number}:1890"],
        "release": "lapwing/0.1.0",
        "is_connected": connected,
        **told,
    }


def status(*nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    told = {
        "name": "marsh",
        "node": 1,
        "role": "active",
        "leader": 1,
        "term": 4,
        "hindrance": None,
        "uncommitted_age_ms": 0,
    }
    return {**told, "stopped": {}, "refusals": {}, "nodes": list(nodes), **changed}


@pytest.mark.parametrize(
    ("found", "roles", "code"),
    [
        (status(node(1), node(2), node(3)), ["active", "standby", "standby"], 0),
        (status(node(1), node(2, connected=False)), ["active", "down"], 1),
        (status(node(1), node(2), stopped={"3": "it lost entries"}), ["active", "standby"], 1),
        (status(node(1), node(2, connected=False, standing="gone")), ["active", "gone"], 0),
        (status(node(1), node(2, is_catching_up=True), node(3)), ["active", "catching up", "standby"], 0),
        (status(node(1), node(2, is_catching_up=True, connected=False)), ["active", "down"], 1),
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
    row = ("n2", "standby", "no", "1,200", "-", "-", "10.0.0.2:1890", "lapwing/0.1.0")
    assert node_row(found["nodes"][1], found) == row
    words = summary({**found, "hindrance": "port 1883 is in use", "stopped": {"16": "it lost entries"}})
    assert words[0] == "cluster marsh, term 4, as n1 sees it"
    assert "\x1b" not in "".join(words)
    late = summary({**found, "uncommitted_age_ms": 2_340, "refusals": {}})
    assert late[1:] == ["the oldest batch that is not committed waits for 2.3 s"]
    assert [line.partition(":")[0] for line in words[1:]] == [
        "n1 is to serve and cannot",
        "group 16 has stopped here",
        "n2 does not speak to n1",
    ]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({}, ("-", "-")),
        ({"disk": "ok", "disk_free_bytes": 53 << 30, "skew_ms": -12}, ("53.0 GiB", "-12 ms")),
        ({"disk": "ok", "disk_free_bytes": None, "skew_ms": 0}, ("-", "0 ms")),
        ({"disk": "low", "disk_free_bytes": 9 << 20, "skew_ms": 3_600_000}, ("low", "3,600 s")),
        ({"disk": "full", "disk_free_bytes": 0, "skew_ms": 1}, ("full", "1 ms")),
    ],
)
def test_what_a_node_says_of_itself(told: dict[str, Any], shown: tuple[str, str]) -> None:
    found = status(node(1, **told))
    assert node_row(found["nodes"][0], found)[4:6] == shown


def test_a_row_has_a_hundred_columns() -> None:
    """Does a node with figures as long as they get, and a usual name and address, fit the width of a terminal?"""
    told: dict[str, Any] = {
        "behind": 123_456_789,
        "is_catching_up": True,
        "disk": "ok",
        "disk_free_bytes": 931 << 30,
        "skew_ms": -9_999,
    }
    found = status(node(1), node(2, **told))
    found["nodes"][1] |= {"name": "north-02", "addresses": ["192.168.100.102:1890"]}
    rows = [node_row(each, found) for each in found["nodes"]]
    assert max(map(len, table(rows, CLUSTER_HEAD).splitlines())) <= 100
