"""Who guesses passwords at a real broker: slowed down, barred, seen and let in again by `lapwing bans`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import call, one_error, rows
from scenario import PASSWORD

import lapwing
from lapwing import Client
from lapwing.config import Config
from lapwing.errors import ConnectError

ADMIN = {"identity": "alice", "may": ["admin", "publish", "subscribe"], "topics": ["#"]}
WATCH = {"identity": "device-7", "may": ["observe"]}


@pytest.fixture
def strict(users: Path, tmp_path: Path) -> Iterator[lapwing.Broker]:
    """A broker that bars a name after three wrong passwords and an address after five, loopback too."""
    auth = {
        "users": users,
        "failures_max": 5,
        "failures_name_max": 3,
        "failures_bar": "10m",
        "failures_bar_local": True,
    }
    broker = {"listen": "tcp://127.0.0.1:0", "http": "127.0.0.1:0", "data": tmp_path, "shards": 2, "pin": False}
    config = Config(auth=auth, broker={**broker, "durability": "memory"}, rules=[ADMIN, WATCH])  # type: ignore[arg-type]
    with lapwing.Broker.from_config(config) as running:
        yield running


def guess(broker: lapwing.Broker, name: str, password: str = "wrong") -> str:
    with pytest.raises(ConnectError) as refused, Client(broker.url, username=name, password=password):
        pass
    return str(refused.value)


def bans(broker: lapwing.Broker, *arguments: str, user: str = "alice") -> subprocess.CompletedProcess[str]:
    return call("bans", *arguments, "--url", broker.http_url, "--user", user, LAPWING_PASSWORD=PASSWORD)


def test_a_name_is_barred_listed_and_lifted(strict: lapwing.Broker) -> None:
    for _ in range(3):
        assert "0x86" in guess(strict, "bob")
    assert "0x8A" in guess(strict, "bob", PASSWORD)
    listed = bans(strict)
    assert listed.stdout.splitlines()[0].split() == ["ADDRESS", "USER", "FAILURES", "ENDS"]
    assert listed.stdout.splitlines()[1].split()[:3] == ["127.0.0.1", "bob", "3"]
    assert listed.stderr == "1 bans\n"
    (row,) = rows(bans(strict, "list", "--json", user="device-7"))
    assert (row["address"], row["user"], row["failures"]) == ("127.0.0.1", "bob", 3)
    assert 0 < row["ends_in_s"] <= 600
    assert 'may = ["admin"]' in one_error(bans(strict, "lift", "bob", user="device-7"))
    assert bans(strict, "lift", "bob").stdout == "bob: 1 bans lifted\n"
    with Client(strict.url, username="bob", password=PASSWORD):
        pass
    assert rows(bans(strict, "--json")) == []
    assert "no ban of 'bob'" in one_error(bans(strict, "lift", "bob"))
    both = bans(strict, "lift", "bob", "eve")
    assert (both.returncode, both.stderr.count("no ban of ")) == (1, 2)


def test_an_address_is_barred_but_for_who_is_at_home(strict: lapwing.Broker) -> None:
    """Is the whole address kept out, but a user who was there before; and is it counted?"""
    with Client(strict.url, username="alice", password=PASSWORD):
        pass
    for number in range(5):
        guess(strict, f"nobody-{number}", "s3cret")
    assert "0x8A" in guess(strict, "bob", PASSWORD)
    with Client(strict.url, username="alice", password=PASSWORD):
        pass
    assert [row["user"] for row in rows(bans(strict, "--json"))] == [None]
    assert bans(strict).stdout.splitlines()[1].split()[:2] == ["127.0.0.1", "any"]
    assert strict.metrics()["lapwing_bars_total"] == 1
    assert bans(strict, "lift", "127.0.0.1").stdout == "127.0.0.1: 1 bans lifted\n"
    with Client(strict.url, username="bob", password=PASSWORD):
        pass
