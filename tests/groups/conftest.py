"""Groups of a real broker, over HTTP."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from web import Response, get

from lapwing import Broker

DEADLINE_S = 30

# The raw clients of the broker's own tests.
sys.path[:0] = [str(Path(__file__).parent.parent / "broker"), str(Path(__file__).parent)]


class Groups:
    """`/v1/groups` of one broker."""

    def __init__(self, broker: Broker) -> None:
        self.url = f"{broker.http_url}/v1/groups"

    def all(self) -> list[dict[str, Any]]:
        groups: list[dict[str, Any]] = get(self.url).json()["groups"]
        return groups

    def get(self, name: str) -> Response:
        return get(f"{self.url}/{name}")

    def put(self, name: str, **table: object) -> Response:
        return get(f"{self.url}/{name}", method="PUT", content=json.dumps(table).encode())

    def delete(self, name: str) -> Response:
        return get(f"{self.url}/{name}", method="DELETE")

    def until(self, name: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first group of that name, as soon as it is so."""
        until = time.monotonic() + DEADLINE_S
        while True:
            answer = self.get(name)
            found = answer.json()["groups"] if answer.status_code == 200 else []
            if found and is_so(found[0]):
                group: dict[str, Any] = found[0]
                return group
            assert time.monotonic() < until, answer.text
            time.sleep(0.02)


@pytest.fixture
def groups(lapwing_broker: Broker) -> Groups:
    return Groups(lapwing_broker)
