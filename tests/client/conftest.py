"""What the tests of consumers and publishers share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from restarting import RestartingBroker
from scripted import ScriptedBroker
from threads import Threads

from lapwing import Broker

TIMEOUT_S = 30.0


@pytest.fixture
def scripted() -> Iterator[ScriptedBroker]:
    """A broker whose words a test writes."""
    broker = ScriptedBroker()
    yield broker
    broker.close()


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """One broker for all tests; each has topics of its own."""
    with Broker(shards=2, limits={"queue_messages_max": 100_000}) as broker:
        yield broker


@pytest.fixture
def restarting(tmp_path: Path) -> Iterator[RestartingBroker]:
    """A broker that keeps what is published below t/ in a stream, and can be killed."""
    broker = RestartingBroker(tmp_path, "--set", "streams.all.filter=t/#", "--set", "streams.all.partitions=1")
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def pool() -> Threads:
    """Threads for what blocks while a test goes on."""
    return Threads()


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """`until(condition)`: polls with a deadline."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, "it did not come about in time"
            time.sleep(0.005)

    return wait
