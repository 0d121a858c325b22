"""A group is added or removed, and the broker is killed as soon as it has answered: what was answered holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import RunningBroker
from web import get

ROUNDS = 4


def order(running: RunningBroker, method: str, table: object = None) -> int:
    """The status of what was asked for the group "g"; the broker is killed right behind it."""
    content = b"" if table is None else json.dumps(table).encode()
    status = get(f"{running.http}/v1/groups/g", method=method, content=content).status_code
    running.process.kill()
    return status


@pytest.mark.parametrize("shards", [1, 3])
def test_what_was_answered_is_on_disk(tmp_path: Path, shards: int) -> None:
    for _ in range(ROUNDS):
        for method, table, status, after in (("PUT", {"filters": ["t/#"]}, 201, 200), ("DELETE", None, 204, 404)):
            flags = ("--set", f"broker.shards={shards}")
            with RunningBroker(tmp_path, *flags).wait_until_ready() as running:
                assert order(running, method, table) == status
            with RunningBroker(tmp_path, *flags).wait_until_ready() as running:
                found = get(f"{running.http}/v1/groups/g")
                assert found.status_code == after, f"after {method}: {found.text}"
                running.process.kill()
