"""A broker that other people's clients of MQTT-SN come to, and one of ours over TCP to talk with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from other_device import PREDEFINED

from lapwing import Broker, Client


@pytest.fixture(scope="module")
def gateway() -> Iterator[Broker]:
    """Its second listener is one of MQTT-SN, which soon says again what is not answered."""
    listener = {"url": "sn://127.0.0.1:0", "retry": "200ms", "retries_max": 50}
    listener["predefined"] = [{"id": 1, "topic": PREDEFINED}]
    with Broker(listen="tcp://127.0.0.1:0", listeners=[listener]) as broker:
        yield broker


@pytest.fixture
def port(gateway: Broker) -> int:
    """Where devices come."""
    return int(next(url for url in gateway.urls if url.startswith("sn://")).rpartition(":")[2])


@pytest.fixture
def other(gateway: Broker) -> Iterator[Client]:
    """A client over TCP."""
    with Client(gateway.url) as client:
        yield client
