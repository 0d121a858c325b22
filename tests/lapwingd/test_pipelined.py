"""Is an answer taken whole by a client that has sent the next request behind the first, which is not answered?"""

from __future__ import annotations

import select
import socket
from pathlib import Path
from urllib.parse import urlsplit

from daemon import Daemon

TIMEOUT_S = 30
CONFIGURATION = '[broker]\nlisten = "tcp://127.0.0.1:0"\nhttp = "127.0.0.1:0"\ndata = "data"\ndrain = "0s"\n'
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
SOON_MS = 300
"""In so long a connection is reset that was closed with something unread; where it is not, nobody waits for longer."""


def test_what_comes_behind_a_request_takes_nothing_of_its_answer(program: Path, tmp_path: Path) -> None:
    """Its connection was closed with the rest unread: a reset, and with it went what the client had yet to take."""
    (tmp_path / "lapwing.toml").write_text(CONFIGURATION)
    with Daemon(program, tmp_path) as daemon, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(TIMEOUT_S)
        address = urlsplit(daemon.http_url)
        client.connect((address.hostname, address.port))
        client.sendall(REQUEST * 200)
        poll = select.poll()
        poll.register(client, 0)  # errors are told unasked
        assert poll.poll(SOON_MS) == []
        with client.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    assert (head.split(b" ")[1], len(body)) == (b"200", int(length.split()[1]))
