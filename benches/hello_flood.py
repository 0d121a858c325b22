"""ClientHellos to one port of loopback, as fast as this process goes: `python -m benches.hello_flood PORT`.

None is ever answered. Each comes on a connection of its own; of these the last two hundred stay open. It goes on until
it is killed, at a niceness that leaves the core to the load: what it takes from that is not the broker's doing.
"""

from __future__ import annotations

import collections
import contextlib
import os
import socket
import ssl
import sys

OPEN_MAX = 200
NICENESS = 10


def hello() -> bytes:
    """A ClientHello as OpenSSL sends it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


def main(port: int) -> None:
    """Sends them; a connection that is refused is followed by the next one."""
    os.nice(NICENESS)
    first = hello()
    held: collections.deque[socket.socket] = collections.deque()
    while True:
        with contextlib.suppress(OSError):
            held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
            held[-1].sendall(first)
        if len(held) > OPEN_MAX:
            held.popleft().close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
