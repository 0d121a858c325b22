"""HTTP asks whoever MQTT asks: a whole broker with tokens (JWT) and with somebody who is asked about passwords."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import wire
from peer import Peer
from tokens import hs256, token
from web import Response, get
from wire import CONNACK

import lapwing
from lapwing.broker_tables import checked_config

SECRET = b"an example of a secret: forty-eight bytes, or so"
RULES = [{"identity": "alice", "may": ["observe"]}, {"identity": "bob-*", "may": ["observe"]}]


PATIENT = {"connect_timeout": "30s"}
"""A question may not take longer than a CONNECT."""


@contextmanager
def broker(auth: dict[str, Any], **more: Any) -> Iterator[lapwing.Broker]:
    tables = {
        "broker": {"listen": ["tcp://127.0.0.1:0"], "http": "127.0.0.1:0", "durability": "memory", "shards": 1},
        "auth": auth,
        "rules": RULES,
        **more,
    }
    tables["broker"]["pin"] = False
    with lapwing.Broker.from_config(checked_config(tables)) as running:
        yield running


def basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def bearer(found: str) -> str:
    return f"Bearer {found}"


def ask(running: lapwing.Broker, authorization: str = "") -> Response:
    headers = {"Authorization": authorization} if authorization else {}
    return get(f"{running.http_url}/v1/groups", headers=headers)


def status(running: lapwing.Broker, authorization: str = "") -> int:
    return ask(running, authorization).status_code


def over_mqtt(running: lapwing.Broker, username: str, password: str) -> int:
    """The code of the CONNACK."""
    with Peer(running.url, 5) as peer:
        peer.send(wire.connect("c", username=username, password=password))
        return int(peer.expect(CONNACK).reason)


def signed(name: str, **claims: Any) -> str:
    return token({"alg": "HS256"}, hs256(SECRET), sub=name, **claims)


def written(folder: Path, name: str, content: bytes) -> Path:
    file = folder / name
    file.write_bytes(content)
    file.chmod(0o600)
    return file


def test_a_token_counts_over_http(tmp_path: Path) -> None:
    """Is its bearer whom it names, with the rights of rules, and does one that is over or bad count for nothing?"""
    jwt = {"secret_file": written(tmp_path, "secret", SECRET), "algorithms": ["HS256"], "leeway": 0}
    with broker({"jwt": jwt}, audit={"file": tmp_path / "trail"}) as running:
        good = signed("alice")
        assert [status(running, headers) for headers in (bearer(good), basic("x", good))] == [200, 200]
        assert status(running, bearer(signed("mallory"))) == 403, "known, and no rule"
        assert status(running) == 401
        for bad in (signed("alice", exp=int(time.time()) - 5), good[:-4] + "AAAA", "eyJ.eyJ.", "", "x"):
            assert status(running, bearer(bad)) == 401
        # What lets in for two seconds is not remembered longer.
        brief = bearer(signed("alice", exp=int(time.time()) + 2))
        assert status(running, brief) == 200
        deadline = time.monotonic() + 30
        while status(running, brief) == 200:
            assert time.monotonic() < deadline
        assert status(running, basic(good, "x")) == 401
    trail = (tmp_path / "trail").read_text()
    assert '"http_refused"' in trail
    assert good not in trail


class Judge(BaseHTTPRequestHandler):
    """Lets in whoever has the password; notes what it is asked."""

    asked: list[dict[str, Any]]
    answers_with: int

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(asked)
        body = json.dumps({"allow": asked["password"] == "right"}).encode()
        self.send_response(self.answers_with)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def judge() -> Iterator[tuple[str, type[Judge]]]:
    class Ours(Judge):
        asked: list[dict[str, Any]] = []  # noqa: RUF012  (one class for each test)
        answers_with = 200

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ours)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/check", Ours
    finally:
        server.shutdown()
        server.server_close()


def test_somebody_who_is_asked_counts_over_http() -> None:
    """Is he told who comes and by which listener, is his answer kept as on MQTT, does nobody come in without one?"""
    with judge() as (url, ours), broker({"http": {"url": url, "timeout": "20s"}}, limits=PATIENT) as running:
        assert [status(running, basic("bob-1", "right")) for _ in range(3)] == [200] * 3
        expected = {"client_id": "", "username": "bob-1", "password": "right", "address": "127.0.0.1"}
        assert ours.asked == [{**expected, "listener": running.http_url}]
        assert running.metrics()["lapwing_auth_http_checks_remembered_total"] == 2
        assert status(running, basic("bob-1", "wrong")) == 401
        assert status(running, basic("eve", "right")) == 403
        assert status(running) == 401
        ours.answers_with = 500
        refused = ask(running, basic("bob-2", "right"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
        ours.answers_with = 200
        assert status(running, basic("bob-2", "right")) == 200, "no answer is not remembered"


def test_a_guess_over_http_is_a_guess() -> None:
    """Do wrong passwords over HTTP bar their name from there, over HTTP and MQTT; and over MQTT over HTTP?"""
    bars = {"failures_bar_local": True, "failures_name_max": 3, "failures_delay_max": 0}
    with judge() as (url, ours), broker({"http": {"url": url, "timeout": "20s"}, **bars}, limits=PATIENT) as running:
        for guess in "abc":
            assert status(running, basic("bob-1", guess)) == 401
        asked = len(ours.asked)
        refused = ask(running, basic("bob-1", "right"))
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "barred")
        for guess in "abcd":
            over_mqtt(running, "bob-2", guess)
        assert over_mqtt(running, "bob-1", "right") == over_mqtt(running, "bob-2", "right") == 0x8A
        assert status(running, basic("bob-2", "right")) == 429
        assert len(ours.asked) == asked + 3
        assert status(running, basic("bob-3", "right")) == 200
