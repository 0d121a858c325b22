"""What every conformance test has: statements, a broker per module, peers that are closed, names of its own.

A test names the statements whose breach would make it fail: `@pytest.mark.statement(5, "MQTT-3.1.2-4", ...)`, once
per version. It runs once for each of the versions that it names; the fixture `version` says which.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

import lapwing

HERE = Path(__file__).parent
# The raw-bytes client is that of the broker's own tests; the statements are a package of this folder.
sys.path[:0] = [str(HERE.parent / "broker"), str(HERE)]

from peer import Peer  # noqa: E402
from statements import load  # noqa: E402

_numbers = count()
_statements = load()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "statement(version, *ids): the statements whose breach fails the test")


def _versions(marks: Iterator[pytest.Mark]) -> list[int]:
    versions = []
    for version, *ids in (mark.args for mark in marks):
        unknown = [statement for statement in ids if (version, statement) not in _statements]
        if unknown:
            raise pytest.UsageError(f"no such statement in version {version}: {unknown}")
        versions.append(version)
    return sorted(versions)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    versions = _versions(metafunc.definition.iter_markers("statement"))
    if not versions:
        raise pytest.UsageError(f"{metafunc.definition.nodeid} names no statement")
    if "version" in metafunc.fixturenames:
        metafunc.parametrize("version", versions, ids=[f"v{version}" for version in versions])


@pytest.fixture(scope="module")
def broker(request: pytest.FixtureRequest) -> Iterator[lapwing.Broker]:
    """One broker for all tests of a module, with the module's SHARDS, LIMITS and RULES.

    On one shard, what is published later cannot overtake: such a module may conclude from a message that came that
    an earlier one did not.
    """
    shards, limits = getattr(request.module, "SHARDS", 2), getattr(request.module, "LIMITS", {})
    with lapwing.Broker(shards=shards, limits=limits, rules=getattr(request.module, "RULES", ())) as broker:
        yield broker


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test has, for client ids and topics."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-") + f"-{next(_numbers)}"


@pytest.fixture
def raw(broker: lapwing.Broker, version: int) -> Iterator[Callable[[], Peer]]:
    """Makes connections on which nothing was said yet."""
    peers: list[Peer] = []

    def make() -> Peer:
        peers.append(Peer(broker.url, version))
        return peers[-1]

    yield make
    for peer in peers:
        peer.close()


@pytest.fixture
def join(raw: Callable[[], Peer], name: str) -> Callable[..., Peer]:
    """Makes connected clients; `join("a")` has the client id "a" made unique, `join()` one of its own."""
    unnamed = count()

    def make(who: str | None = None, **options: object) -> Peer:
        peer = raw()
        peer.join(f"{name}-{who or next(unnamed)}", **options)
        return peer

    return make
