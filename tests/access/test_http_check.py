"""A check over HTTP from outside: its certificate, its files, what ``lapwing config check`` says of it."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme
import wire
from commands import call
from peer import Peer
from wire import CONNACK

import lapwing
from lapwing.broker_tables import checked_config


class Judge(BaseHTTPRequestHandler):
    """Lets in whoever has the password, when the broker shows who it is."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.headers["Authorization"] == "Bearer of-the-broker"
        body = json.dumps({"allow": known and asked["password"] == "right"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def url(authority: trustme.CA) -> Iterator[str]:
    """That of a judge with a certificate of the authority."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/check?key=of-the-url"
    server.shutdown()
    server.server_close()


def answer(check: dict[str, Any], password: str = "right", hears: str = "") -> tuple[int, str]:
    """The code of the CONNACK, and what the operator hears, ``hears`` among it."""
    told: list[str] = []

    def has_heard() -> bool:
        told.extend(running.notices())
        return hears in "\n".join(told)

    broker = {"listen": ["tcp://127.0.0.1:0"], "http": None, "durability": "memory", "pin": False, "shards": 1}
    tables = {"broker": broker, "auth": {"http": check}, "limits": {"connect_timeout": "30s"}}
    with lapwing.Broker.from_config(checked_config(tables)) as running:
        with Peer(running.url, 5) as peer:
            peer.send(wire.connect("c", username="bob", password=password))
            code = int(peer.expect(CONNACK).reason)
        wire.until(has_heard)
        return code, "\n".join(told)


def test_the_certificate_is_verified(tmp_path: Path, authority: trustme.CA, url: str) -> None:
    """Does the judge's own authority count, and no other: not the system's, not somebody's?"""
    own, strange, secret = tmp_path / "own.pem", tmp_path / "strange.pem", tmp_path / "secret"
    authority.cert_pem.write_to_path(str(own))
    trustme.CA().cert_pem.write_to_path(str(strange))
    secret.write_text("Bearer of-the-broker\n")
    secret.chmod(0o600)
    check = {"url": url, "authorization_file": secret, "timeout": "20s"}
    assert answer({**check, "ca": own})[0] == 0
    assert answer({**check, "ca": own}, "wrong")[0] == 0x86
    assert answer({"url": url, "ca": own, "timeout": "20s"})[0] == 0x86, "the broker has not said who it is"
    code, told = answer({**check, "ca": strange}, hears="certificate")
    assert code == 0x88
    assert "of-the-url" not in told
    assert "of-the-broker" not in told


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ('url = "http://accounts.example/"', "plain = true"),
        ('url = "https://me:secret@accounts.example/"', "no user and password"),
        ('url = "accounts.example"', "must be a URL"),
        ('url = "https://accounts.example/"\nca = "none.pem"', "none.pem cannot be read"),
        ('url = "https://accounts.example/"\nca = "empty"', "authorities"),
        ('url = "https://accounts.example/"\nauthorization_file = "empty"', "first line"),
        ('timeout = "1s"', "name whom to ask"),
    ],
)
def test_config_check_names_what_is_wrong(tmp_path: Path, check: str, expected: str) -> None:
    (tmp_path / "empty").write_text("")
    (tmp_path / "empty").chmod(0o600)
    (tmp_path / "lapwing.toml").write_text(f"[auth.http]\n{check}\n")
    result = call("config", "check", "--running", "lapwing.toml", cwd=tmp_path)
    assert result.returncode == 2, result.stderr
    assert expected in result.stderr
    assert "me:secret" not in result.stderr
