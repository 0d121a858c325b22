"""One broker with a listener of each kind for all of these tests, and clients that stay connected to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from clients.endpoint import Endpoint, Endpoints
from clients.peer import Connected, Peer, Session

from lapwing import Broker


@pytest.fixture(scope="session")
def endpoints() -> Iterator[Endpoints]:
    """Where each scheme is served."""
    with Broker(shards=2) as broker:
        urls = [urlsplit(url) for url in broker.urls]
        yield {url.scheme: Endpoint(url.scheme, url.port or 0) for url in urls}


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
