"""Does health answer, and does everybody else, while strangers hold connections without asking for anything?"""

from __future__ import annotations

import socket

import pytest
from served_node import ask, served, strangers

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
