"""`/v1/groups` of a broker, as the tests ask it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from web import Response, get

from lapwing import Broker

DEADLINE_S = 30


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
