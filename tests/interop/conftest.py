"""One broker with a listener of each kind for all of these tests, and clients that stay connected to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from certificates import Certificates
from clients.endpoint import SCHEMES, Endpoint, Endpoints
from clients.peer import Connected, Peer, Session
from commands import lapwing

from lapwing import Broker

USER = "peer"
PASSWORD = "Nest im Gras \N{SNOWMAN}"


@pytest.fixture(scope="session")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of users with one in it."""
    file = tmp_path_factory.mktemp("users") / "users.toml"
    done = lapwing("user", "add", USER, "--password-stdin", "--users", str(file), stdin=PASSWORD.encode())
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="session")
def endpoints(tmp_path_factory: pytest.TempPathFactory, users: Path) -> Iterator[Endpoints]:
    """Where each scheme is served: to anybody without TLS, with TLS to who says the password."""
    certificates = Certificates.make(tmp_path_factory.mktemp("certificates"))
    secrets = {"certificate": certificates.chain, "key": certificates.key, "anonymous": False}
    listeners = [{"url": f"{s}://127.0.0.1:0", **(secrets if s in ("tls", "wss") else {})} for s in SCHEMES]
    with Broker(listeners=listeners, users=users, shards=2) as broker:
        ports = {urlsplit(url).scheme: urlsplit(url).port or 0 for url in broker.urls}
        yield {
            scheme: Endpoint(scheme, port, certificates.authority, USER, PASSWORD)
            if scheme in ("tls", "wss")
            else Endpoint(scheme, port)
            for scheme, port in ports.items()
        }


@pytest.fixture(scope="module")
def connected(endpoints: Endpoints) -> Iterator[Connected]:
    """`connected(peer, scheme, version)`: one session for all tests of a module, because a Java machine starts slowly.

    Each test has topics of its own.
    """
    sessions: dict[tuple[str, str, int], Session] = {}
    with ExitStack() as stack:

        def session(peer: Peer, scheme: str, version: int) -> Session:
            key = (peer.name, scheme, version)
            if key not in sessions:
                sessions[key] = stack.enter_context(peer.connect(endpoints[scheme], version))
            return sessions[key]

        yield session
