"""A broker with users and rules, and clients of raw bytes to ask it with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lapwing
from lapwing._core import hash_password
from lapwing.auth import User, new_token, update_users

TESTS = Path(__file__).parent.parent
# The raw-bytes clients are those of the broker's own tests and of the statements.
sys.path[:0] = [str(TESTS / "broker"), str(TESTS / "conformance")]

from peer import Peer  # noqa: E402
from scenario import NAMED, PASSWORD, RULES  # noqa: E402


@pytest.fixture(scope="session")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A users file in which everybody of NAMED has PASSWORD."""
    file = tmp_path_factory.mktemp("users") / "users.toml"
    hashed = hash_password(PASSWORD.encode())
    with update_users(file) as known:
        for name in NAMED:
            known[name] = User(name, hashed)
    return file


@pytest.fixture(scope="session")
def token(users: Path) -> str:
    """A token of alice's."""
    made, digest = new_token()
    with update_users(users) as known:
        known["alice"].tokens["test"] = digest
    return made


@pytest.fixture(scope="module")
def broker(users: Path, token: str) -> Iterator[lapwing.Broker]:
    """One broker for all tests of a module."""
    with lapwing.Broker(shards=2, users=users, rules=RULES) as broker:
        yield broker


@pytest.fixture(params=[4, 5], ids=["v4", "v5"])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def join(broker: lapwing.Broker, version: int) -> Iterator[Callable[..., Peer]]:
    """Makes connected clients: ``join("alice", "client-id")``; without a name it is anonymous."""
    peers: list[Peer] = []

    def make(name: str | None, client_id: str, *, at: lapwing.Broker = broker, **options: object) -> Peer:
        peer = Peer(at.url, version)
        peers.append(peer)
        password = None if name is None else PASSWORD
        peer.join(client_id, username=name, password=password, **options)
        return peer

    yield make
    for peer in peers:
        peer.close()
