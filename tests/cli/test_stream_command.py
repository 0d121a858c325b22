"""`lapwing stream`: a broker's streams from the outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest
from commands import Running, call, lapwing, one_error, rows

from lapwing import Broker

Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]
pytestmark = pytest.mark.lapwing(streams={"all": {"filter": "#"}}, http="127.0.0.1:0")


@pytest.fixture
def url(lapwing_broker: Broker, publish: Publish) -> str:
    """The HTTP side of a broker whose stream has three messages."""
    publish(lapwing_broker.url, [("a/1", b"one"), ("a/2", b"\xff\x00"), ("a/3", "dr\u00e9i".encode())])
    return lapwing_broker.http_url


def test_list(url: str) -> None:
    table = call("stream", "list", "--url", url).stdout.splitlines()
    assert table[0].split() == ["NAME", "FILTER", "KEY", "PARTITIONS", "MESSAGES", "BYTES"]
    assert table[1].split()[:5] == ["all", "#", "client", "1", "3"]
    assert [row["name"] for row in rows(call("stream", "list", "--json", LAPWING_HTTP_URL=url))] == ["all"]


def test_info(url: str) -> None:
    text = lapwing("stream", "info", "all", "--url", url).stdout
    assert "PARTITION  FIRST  NEXT" in text
    assert rows(lapwing("stream", "info", "all", "--json", "--url", url))[0]["partitions"][0]["next_offset"] == 3


def test_read(url: str) -> None:
    """Does each message become one line, whatever bytes it has?"""
    text = call("stream", "read", "all", "0", "--url", url).stdout
    assert text.splitlines() == ["0 a/1 one", "1 a/2 \\xff\\x00", "2 a/3 dr\u00e9i"]
    found = rows(call("stream", "read", "all", "0", "--from", "1", "--limit", "2", "--json", "--url", url))
    assert [row["offset"] for row in found] == [1, 2]
    assert found[0]["payload_base64"] == "/wA="
    assert found[1]["payload"] == "dr\u00e9i"
    assert found[0]["ingress_at"].endswith("Z")
    assert "forwarded_at" not in found[0]


def test_forget(url: str) -> None:
    """Is a named reader listed until it is forgotten, and is a second time an error?"""
    call("stream", "read", "all", "0", "--reader", "spark", "--url", url)
    assert "spark" in call("stream", "info", "all", "--url", url).stdout
    forgotten = call("stream", "forget", "all", "spark", "--url", url)
    assert (forgotten.returncode, forgotten.stdout) == (0, "")
    assert "spark" not in call("stream", "info", "all", "--url", url).stdout
    again = call("stream", "forget", "all", "spark", "--url", url)
    assert again.returncode == 1
    assert "no reader 'spark'" in one_error(again)


def test_follow_waits_for_more(url: str, lapwing_broker: Broker, publish: Publish) -> None:
    """Does --follow print what arrives later, as it arrives?"""
    with Running("stream", "read", "all", "0", "--follow", "--json", "--url", url) as reader:
        assert [json.loads(reader.line())["offset"] for _ in range(3)] == [0, 1, 2]
        publish(lapwing_broker.url, [("late", b"x")])
        assert json.loads(reader.line())["topic"] == "late"


@pytest.mark.parametrize(
    ("arguments", "what", "code"),
    [
        (["info", "none"], "no stream 'none'", 1),
        (["read", "none", "0"], "known streams: all", 1),
        (["read", "all", "7"], "partition", 1),
        (["read", "all", "0", "--from", "99"], "99", 1),
    ],
)
def test_errors(url: str, arguments: list[str], what: str, code: int) -> None:
    result = call("stream", *arguments, "--url", url)
    assert result.returncode == code
    assert what in one_error(result)


def test_nobody_answers() -> None:
    """Is a wrong URL exit code 3, with the URL and the remedy in the line?"""
    result = call("stream", "list", "--url", "http://127.0.0.1:1")
    assert result.returncode == 3
    assert "http://127.0.0.1:1" in one_error(result)
    assert call("stream", "list", "--url", "ftp://x").returncode == 3
