"""A listener whose clients' sessions are not kept on disk, beside one whose are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing import Broker, Client
from lapwing.errors import ConfigError

TCP = "tcp://127.0.0.1:0"
LISTENERS = [{"url": TCP}, {"url": TCP, "durability": "memory"}]


def visit(url: str, name: str) -> bool:
    """Comes with a session that is to stay, and subscribes; true where it was there before."""
    with Client(url, client_id=name, clean_start=False, session_expiry_s=3_600) as client:
        client.subscribe("doors/#", qos=1)
        return client.session_present


def test_a_session_is_kept_as_the_listener_says_where_it_began(tmp_path: Path) -> None:
    """Is what began at the listener in memory gone after a restart, and everything else there?"""
    with Broker(data=tmp_path, listeners=LISTENERS, shards=2) as broker:
        disk, memory = broker.urls
        assert not visit(disk, "kept")
        assert not visit(memory, "not-kept")
        assert visit(memory, "kept"), "it may come back another way"
        assert visit(disk, "not-kept"), "and is there for as long as the broker is"
    with Broker(data=tmp_path, listeners=LISTENERS, shards=2) as broker:
        disk, memory = broker.urls
        assert visit(disk, "kept")
        assert not visit(disk, "not-kept")


def test_a_listener_on_disk_needs_a_disk() -> None:
    """Is a promise that nothing stands behind refused at the start, with what to do?"""
    with (
        pytest.raises(ConfigError, match=r"listeners\[0\]\.durability.*broker\.durability"),
        Broker(listeners=[{"url": TCP, "durability": "disk"}]),
    ):
        pass
