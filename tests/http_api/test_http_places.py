"""Does health answer, and does everybody else, while strangers hold connections without asking for anything?"""

from __future__ import annotations

import socket
import threading

import pytest
from served_node import MadeNode, ask, served, strangers

PLACES = 16


def test_half_heads_of_one_address_keep_nobody_out() -> None:
    """Four times as many as there are places: does every path answer, to the same address too?"""
    with served(None, "readings", connections_max=PLACES, keep_alive="10m") as server:
        for sent in (b"", b"G", b"GET /healthz HTTP/1.1\r\nHost: "):
            with strangers(server, 4 * PLACES, sent):
                for path in ("/healthz", "/readyz", "/v1/streams/readings/0", "/metrics"):
                    assert ask(server.url + path).status_code == 200, (sent, path)


def test_idle_connections_of_one_address_keep_nobody_out() -> None:
    """They have asked once and stay: are they let go without a word, which would be taken for an answer?"""
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with (
        served(None, "readings", connections_max=PLACES, keep_alive="10m") as server,
        strangers(server, PLACES, request) as idle,
    ):
        for peer in idle:
            _read_until(peer, b'{"status":"alive"}')
        assert ask(f"{server.url}/v1/streams").status_code == 200
        assert b"" in [_without_waiting(peer) for peer in idle]


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
READ = HEALTH.replace(b"/healthz", b"/v1/streams/readings/0")
LARGE = bytes(24 << 20)


def test_who_takes_no_answer_keeps_nobody_out() -> None:
    """Every place asks twice and reads nothing, of one address: is one of them cut off for whoever comes?"""
    with (
        served(None, "readings", large=LARGE, connections_max=4, keep_alive="10m", write_timeout="10m") as server,
        strangers(server, 4, HEALTH + READ, reads_bytes=4096) as slow,
    ):
        for _ in range(4):
            assert _asked_until_served(f"{server.url}/v1/streams", "127.0.0.1") == 200
        assert [_is_cut_off(peer) for peer in slow].count(True) >= 1


@pytest.mark.parametrize("request_", [READ, HEALTH + READ, READ.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")])
def test_who_takes_a_few_bytes_now_and_then_is_cut_off(request_: bytes) -> None:
    """A byte in time was enough for the kernel. Is a peer that reads as it should left alone meanwhile?"""
    with (
        served(None, "readings", large=LARGE, keep_alive="10m", write_timeout="300ms") as server,
        strangers(server, 1, request_, reads_bytes=4096) as (slow,),
    ):
        assert ask(f"{server.url}/v1/streams/readings/0").content == LARGE
        assert _drips_until_cut_off(slow) < len(LARGE) // 2
        assert "lapwing_http_slow_readers_total 1\n" in ask(f"{server.url}/metrics").text


def test_a_read_has_its_time() -> None:
    """As slow as is allowed, one identity held a read for hours."""
    with (
        served(None, "readings", large=LARGE, keep_alive="10m", write_timeout="10m", read_timeout="300ms") as server,
        strangers(server, 1, READ, reads_bytes=4096) as (slow,),
    ):
        poll = threading.Event()
        for _ in range(600):
            if "lapwing_http_slow_readers_total 1\n" in ask(f"{server.url}/metrics").text:
                break
            poll.wait(0.05)
        else:
            raise AssertionError("the read is held still")
        assert slow.recv(1)


def test_who_is_refused_in_the_midst_of_sending_hears_why() -> None:
    """Is a head without end answered, not cut off with the answer thrown away; and its sender not heard for ever?"""
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 5_000_000
    with served(None) as server, strangers(server, 1, head) as (peer,):
        _read_until(peer, b'"remedy":"send a request of HTTP/1.1"}}')
        assert peer.recv(1) == b""
        peer.settimeout(30)
        with pytest.raises(ConnectionError):
            _send_for_ever(peer)


@pytest.mark.parametrize("target", ["GET /healthz", "PUT /v1/groups/a"])
def test_a_request_of_two_lengths_is_the_last_of_its_connection(target: str) -> None:
    """Something in front may hear another end of it: is what follows no request (RFC 9112, 6.1)?"""
    lengths = "Content-Length: 44\r\nTransfer-Encoding: chunked"
    smuggled = "GET /v1/streams HTTP/1.1\r\nHost: localhost\r\n\r\n"
    request = f"{target} HTTP/1.1\r\nHost: localhost\r\n{lengths}\r\n\r\n0\r\n\r\n{smuggled}"
    with served(None, "readings") as server, strangers(server, 1, request.encode()) as (peer,):
        answer = b""
        while piece := peer.recv(4096):
            answer += piece
    assert answer.count(b"HTTP/1.1 ") == 1, answer
    assert answer.startswith(b"HTTP/1.1 400 "), answer
    assert b"x-content-type-options: nosniff" in answer


def _send_for_ever(peer: socket.socket) -> None:
    while True:
        peer.sendall(b"a" * 1_000_000)


def _read_until(peer: socket.socket, end: bytes) -> None:
    answer = b""
    while not answer.endswith(end):
        piece = peer.recv(4096)
        assert piece, answer
        answer += piece


def _asked_until_served(url: str, source: str) -> int:
    """503 is what a place answers that is kept for health: those who are slow are not paused yet."""
    waited, status = threading.Event(), 503
    for _ in range(600):
        if (status := ask(url, source=source).status_code) != 503:
            break
        waited.wait(0.05)
    return status


def _is_cut_off(peer: socket.socket) -> bool:
    peer.setblocking(True)
    peer.settimeout(0.01)
    try:
        while peer.recv(1 << 20):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def _drips_until_cut_off(peer: socket.socket) -> int:
    """How much comes at a kilobyte each tenth of a second, until the connection ends."""
    waited, taken = threading.Event(), 0
    for _ in range(300):
        try:
            piece = peer.recv(1024)
        except ConnectionError:
            return taken
        if not piece:
            return taken
        taken += len(piece)
        waited.wait(0.1)
    raise AssertionError(f"it goes on, after {taken} bytes")


def _without_waiting(peer: socket.socket) -> bytes | None:
    peer.setblocking(False)
    try:
        return peer.recv(4096)
    except BlockingIOError:
        return None


def test_half_heads_of_many_addresses_leave_health_its_places() -> None:
    """Nobody has more than one: is health served, and are the others told that it is full?"""
    with (
        served(None, "readings", connections_max=PLACES, keep_alive="10m") as server,
        strangers(server, PLACES + 40, b"G", spread=True),
    ):
        for path in ("/healthz", "/readyz"):
            assert ask(server.url + path).status_code == 200, path
        with strangers(server, 1, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") as (one,):
            assert one.makefile("rb").read().endswith(b'{"status":"alive"}'), "and the place is free again"
        refused = ask(f"{server.url}/v1/streams")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "too_many_connections")
        assert refused.headers["retry-after"] == "1"


def test_ready_does_not_wait_behind_those_who_ask_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty requests that the node keeps waiting were all the threads there are."""
    gate, begun = threading.Event(), threading.Semaphore(0)

    def slow(_node: MadeNode, *_: object) -> tuple[list[str], int, None]:
        begun.release()
        assert gate.wait(30)
        return [], 0, None

    monkeypatch.setattr(MadeNode, "groups", slow)
    request = HEALTH.replace(b"/healthz", b"/v1/groups")
    with served(None) as server, strangers(server, 60, request) as peers:
        try:
            for _ in range(40):
                assert begun.acquire(timeout=30)
            assert ask(f"{server.url}/readyz").status_code == 200
        finally:
            gate.set()
        assert [peer.recv(12) for peer in peers] == [b"HTTP/1.1 200"] * 60
