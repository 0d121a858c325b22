"""Whose a reader's name is: at a real broker, with users who read the same stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_node import ask, bearer

import lapwing
from lapwing.auth import User, new_token, update_users
from lapwing.credentials import Credentials
from lapwing.errors import ConnectError
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient

RULES: list[dict[str, object]] = [
    {"identity": "*", "may": ["stream"], "streams": ["readings"]},
    {"identity": "root", "may": ["admin"]},
]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, str]]]:
    """A users file, and by user the header that says who it is."""
    file = tmp_path_factory.mktemp("users") / "users.toml"
    made = {name: new_token() for name in ("alice", "eve", "root")}
    with update_users(file) as known:
        for name, (_, digest) in made.items():
            known[name] = User(name, None, {"t": digest})
    return file, {name: bearer(token) for name, (token, _) in made.items()}


@pytest.fixture
def url(tokens: tuple[Path, dict[str, dict[str, str]]]) -> Iterator[str]:
    stream = {"readings": {"filter": "readings"}}
    with lapwing.Broker(http="127.0.0.1:0", streams=stream, users=tokens[0], rules=RULES) as broker:
        yield f"{broker.http_url}/v1/streams/readings"


def place(url: str, who: dict[str, str]) -> list[tuple[str, str]]:
    readers = json.loads(ask(url, who).content)["readers"]
    return [(reader["name"], reader["seen_at"]) for reader in readers]


def test_nobody_moves_the_reader_of_another(url: str, tokens: tuple[Path, dict[str, dict[str, str]]]) -> None:
    """Is a name that somebody has begun left alone by who may read the same stream, and not by an administrator?"""
    alice, eve, root = (tokens[1][name] for name in ("alice", "eve", "root"))
    assert ask(f"{url}/0?reader=spark", alice).status_code == 200
    before = place(url, alice)
    taken = ask(f"{url}/0?reader=spark", eve)
    assert (taken.status_code, taken.json()["error"]["code"]) == (403, "reader_taken")
    assert "another name" in taken.json()["error"]["remedy"]
    assert place(url, alice) == before, "nothing has moved"
    for who, name in ((eve, "eves"), (root, "spark"), (alice, "spark")):
        assert ask(f"{url}/0?reader={name}", who).status_code == 200
    assert ask(f"{url}/0?reader=spark", eve).status_code == 403, "the administrator's read has not made it free"
    assert ask(f"{url}/readers/spark", root, method="DELETE").status_code == 204
    assert ask(f"{url}/0?reader=spark", eve).status_code == 200, "a name that is forgotten is nobody's"


def test_who_may_read_the_stream_tells_how_far_a_query_is(
    url: str, tokens: tuple[Path, dict[str, dict[str, str]]]
) -> None:
    """What Spark's driver asks: at the end of a partition, where there is no message to be had."""
    alice, eve = (
        Credentials.bearer(tokens[1][name]["Authorization"].removeprefix("Bearer ")) for name in ("alice", "eve")
    )
    with StreamClient(StreamAddress.parse(url), credentials=alice) as client:
        client.tell("query", 0, client.state().partitions[0].next_offset)
    assert [name for name, _ in place(url, tokens[1]["alice"])] == ["query"]
    with StreamClient(StreamAddress.parse(url), credentials=eve) as client, pytest.raises(ConnectError, match="query"):
        client.tell("query", 0, 0)
