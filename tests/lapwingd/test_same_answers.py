"""Does lapwingd answer over HTTP what the package answers: the same questions, over one data folder after the other?"""

from __future__ import annotations

import base64
import json
import re
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from daemon import Daemon
from web import TIMEOUT_S, get

import lapwing
from lapwing.auth import User, new_token, update_users
from lapwing.config import load

Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]
STREAMS = """
[streams.readings]
filter = "spectrum/+/readings"
partitions = 2
key = "topic"

[streams.alarms]
filter = "überall/#"
"""
RULES = """
[auth]
users = "users.toml"

[[rules]]
identity = "anonymous"
may = ["publish"]
topics = ["#"]

[[rules]]
identity = "*"
may = ["stream"]
streams = ["readings"]

[[rules]]
identity = "root"
may = ["admin"]
"""
AUDIT = """
[audit]
file = "audit.jsonl"
refusals_per_minute = 1000
"""
TCP = 'listen = "tcp://127.0.0.1:0"'
UNIX = 'listen = "unix://{folder}/socket"'
SETTINGS = {
    "rules": (TCP, RULES + STREAMS + AUDIT),
    "users without rules": (TCP, '[auth]\nusers = "users.toml"\n' + STREAMS),
    "rules without users": (
        TCP,
        '[[rules]]\nidentity = "anonymous"\nmay = ["stream"]\nstreams = ["alarms"]\n' + STREAMS,
    ),
    "open": (TCP, STREAMS),
    "no streams": (TCP, ""),
    "guarded": (UNIX, STREAMS),
    "opened": (UNIX, "[http]\nopen = true\n" + STREAMS),
    "one failure": (TCP, "[http]\nfailures_max = 1\n" + RULES + STREAMS),
}


@dataclass(frozen=True)
class Question:
    """What is asked; ``who``: a user who shows a token, or what stands in ``Authorization``."""

    path: str
    who: str = ""
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None


PATHS = [
    "/healthz", "/readyz", "/v1/streams", "/v1/streams/readings", "/v1/streams/alarms", "/v1/streams/nothing",
    "/v1/streams/it's", "/v1/streams/%F0%9F%A6%85%22",
    "/v1/streams/readings/0", "/v1/streams/readings/1", "/v1/streams/alarms/0", "/v1/streams/%72eadings/0",
    "/v1/streams/nothing/0", "/v1/streams/readings/2", "/v1/streams/readings/x", "/v1/streams/readings/4294967296",
    "/v1/streams/readings/0?from=0&limit=2", "/v1/streams/readings/1?from=0&limit=2", "/v1/streams/readings/0?bytes=1",
    "/v1/streams/readings/0?from=1000000", "/v1/streams/readings/0?from=-1", "/v1/streams/readings/0?from=",
    "/v1/streams/readings/0?limit=0", "/v1/streams/readings/0?limit=1000001", "/v1/streams/readings/0?bytes=67108865",
    "/v1/streams/readings/0?from=1&from=2", "/v1/streams/readings/0?from=9223372036854775808",
    "/v1/streams/readings/0?wait=1&after=2", "/v1/streams/readings/0?limit=%C3%BC%E2%80%AE+" + "x" * 80,
    "/v1/streams/readings/0?reader=", "/v1/streams/readings/0?reader=a%2Fb",
    "/v1/streams/readings/0?reader=" + "r" * 65,
]  # fmt: skip
READERS = "/v1/streams/readings/readers/spark"
QUESTIONS = [
    *(Question(path, who) for who in ("", "alice", "root") for path in PATHS),
    *(Question(path, method="HEAD") for path in ("/healthz", "/v1/streams", "/v1/streams/readings/0")),
    *(Question(path, "root", method) for method in ("POST", "DELETE", "OPTIONS") for path in (*PATHS[1:4], PATHS[8])),
    Question(READERS, "root"),
    Question("/healthz", method="POST", content=b"x" * 1_000_000),
    Question("/v1/streams", "alice", content=b"{}"),
    Question("/healthz", headers={"Host": "evil.example"}),
    Question("/v1/streams", "alice", headers={"Host": "localhost:1:2"}),
    Question("/v1/streams", "alice", headers={"Host": "LOCALHOST:1"}),
    Question("/healthz", headers={"Origin": "http://evil.example"}),
    Question("/v1/streams", "root", headers={"Sec-Fetch-Site": "cross-site"}),
    Question(READERS, "root", "DELETE", {"Sec-Fetch-Site": "cross-site"}),
    Question("/v1/streams/readings/0?reader=link", "alice", headers={"Sec-Fetch-Site": "cross-site"}),
    # Readers by name, from the first to none.
    Question("/v1/streams/readings/1?reader=headed", "alice", "HEAD"),
    Question("/v1/streams/readings", "alice"),
    Question("/v1/streams/readings/1?reader=spark", "alice"),
    Question("/v1/streams/readings/0?from=0&reader=spark", "alice"),
    Question("/v1/streams/readings/0?from=0&reader=spark", "eve"),
    Question("/v1/streams/readings", "alice"),
    Question(READERS, "alice", "DELETE"),
    Question(READERS, "root", "DELETE"),
    Question(READERS, "root", "DELETE"),
    Question("/v1/streams/nothing/readers/spark", "root", "DELETE"),
    Question("/v1/streams/readings", "root"),
    Question("/v1/streams/readings/readers/a", "", "DELETE"),
    # Who shows nothing that is known here.
    Question("/v1/streams", "Bearer lapwing_nobody"),
    Question("/v1/streams", "Basic !!"),
    Question("/v1/streams", "Digest alice"),
    Question("/v1/streams", f"Basic {base64.b64encode(b'nobody:x').decode()}"),
    Question("/nowhere", "Bearer lapwing_nobody"),
]
HEADERS = (
    "content-type", "content-length", "lapwing-first-offset", "lapwing-next-offset", "lapwing-end-offset",
    "lapwing-stream-uuid", "cache-control", "retry-after", "www-authenticate", "x-content-type-options",
    "cross-origin-resource-policy",
)  # fmt: skip
SEEN_AT = re.compile(rb'"seen_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"')


@pytest.fixture(scope="module")
def tokens() -> dict[str, tuple[str, str]]:
    return {name: new_token() for name in ("alice", "eve", "root")}


def configure(folder: Path, tokens: dict[str, tuple[str, str]], settings: str) -> None:
    with update_users(folder / "users.toml") as known:
        for name, (_, digest) in tokens.items():
            known[name] = User(name, None, {"t": digest})
    listen, tables = SETTINGS[settings]
    broker = f"""[broker]
http = "127.0.0.1:0"
data = "data"
drain = "0s"
shards = 1
pin = false
{listen.format(folder=folder)}
"""
    (folder / "lapwing.toml").write_text(broker + tables)


def answer(url: str, question: Question, tokens: dict[str, tuple[str, str]]) -> Any:
    """What is to be the same, byte by byte."""
    headers = dict(question.headers)
    if question.who:
        headers["Authorization"] = f"Bearer {tokens[question.who][0]}" if question.who in tokens else question.who
    response = get(url + question.path, method=question.method, content=question.content, headers=headers)
    kept = {name: response.headers.get(name) for name in HEADERS}
    kept["allow"] = str(sorted(response.headers.get("allow", "").split(", ")))
    if response.status_code == 405:
        # In which order methods are named is chance in the package.
        return response.status_code, kept["allow"], response.json()["error"]["code"]
    if response.status_code == 404 and b'"not_found"' in response.content:
        return response.status_code, response.json()["error"]["message"], "the remedy names the paths that there are"
    return response.status_code, kept, SEEN_AT.sub(b'"seen_at":TIME', response.content)


def audited(line: str) -> dict[str, Any] | None:
    """What both write of a request; None: the line is of something else."""
    event: dict[str, Any] = json.loads(line)
    each = ("seq", "at", "address", "prev", "hash")
    is_request = event["event"] == "http_refused" or event.get("over") == "http"
    return {name: value for name, value in event.items() if name not in each} if is_request else None


@pytest.mark.parametrize("settings", SETTINGS)
def test_answers_are_the_same(
    settings: str, program: Path, tokens: dict[str, tuple[str, str]], publish: Publish, tmp_path: Path
) -> None:
    configure(tmp_path, tokens, settings)
    with lapwing.Broker.from_config(load(tmp_path / "lapwing.toml").config) as broker:
        if SETTINGS[settings][0] == TCP:
            messages = [(f"spectrum/d{n % 3}/readings", b"%d" % n) for n in range(20)]
            publish(broker.url, [*messages, ("überall/x", b"\0\xff")])
        expected = [answer(broker.http_url, question, tokens) for question in QUESTIONS]
    with Daemon(program, tmp_path) as daemon:
        for question, same in zip(QUESTIONS, expected, strict=True):
            assert answer(daemon.http_url, question, tokens) == same, question
    trail = [audited(line) for line in (tmp_path / "audit.jsonl").open()] if "[audit]" in SETTINGS[settings][1] else []
    over_http = [event for event in trail if event is not None]
    half = len(over_http) // 2
    assert over_http[:half] == over_http[half:], "the trail of lapwingd behind that of the package"
    assert bool(over_http) == bool(trail)


HEADS = [
    b"GET /healthz HTTP/1.0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length : 5\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
    b"GET /v1/streams HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
    b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a\r\n\r\n",
]


def told(url: str, head: bytes) -> tuple[bytes, bytes]:
    """The status, and what sort of answer it is."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT_S) as peer:
        peer.sendall(head)
        with peer.makefile("rb") as answers:
            status, length = answers.readline().split(b" ")[1], 0
            while (line := answers.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            found = re.search(rb'"(?:code|status)":"(\w+)"', answers.read(length))
    return status, found[1] if found else b""


def help_lines(url: str, token: str) -> Sequence[str]:
    text = get(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"}).text
    return [
        line for line in text.splitlines() if line.startswith(("# HELP lapwing_http", "lapwing_http_refused_total"))
    ]


def test_what_is_no_request_is_told_the_same(program: Path, tokens: dict[str, tuple[str, str]], tmp_path: Path) -> None:
    """Also heads that somebody in front may read otherwise; and do both count what they refuse by the same names?"""
    configure(tmp_path, tokens, "rules")
    with lapwing.Broker.from_config(load(tmp_path / "lapwing.toml").config) as broker:
        expected = [told(broker.http_url, head) for head in HEADS]
        counted = help_lines(broker.http_url, tokens["root"][0])
    with Daemon(program, tmp_path) as daemon:
        for head, same in zip(HEADS, expected, strict=True):
            assert told(daemon.http_url, head) == same, head
        # It has no TLS, so no handshakes and no certificates.
        without = ("lapwing_http_handshakes_failed_total", "lapwing_http_certificates_lapsed_total")
        wanted = [line for line in counted if not any(name in line for name in without)]
        assert help_lines(daemon.http_url, tokens["root"][0]) == wanted
