"""A broker that stood still, stopped or with its machine suspended: are clients that went on speaking kept?"""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

from commands import TIMEOUT_S, RunningBroker

KEEP_ALIVE_S = 1
STOPPED_S = KEEP_ALIVE_S * 1.5 + 0.5
"""Longer than a broker waits for a client's next packet: the fault itself, not a wait for something else."""
PINGREQ, PINGRESP = b"\xc0\x00", b"\xd0\x00"


def connected(url: str, name: str) -> socket.socket:
    """A client of 3.1.1 that must speak once a second."""
    parts = urlsplit(url)
    client = socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=TIMEOUT_S)
    client.sendall(bytes.fromhex(f"10 0d 0004 4d515454 04 02 {KEEP_ALIVE_S:04x} 0001") + name.encode())
    assert client.recv(100) == bytes.fromhex("20 02 00 00"), "CONNACK"
    return client


def is_stopped(process: int) -> bool:
    """Whether each of its threads stands still: what is sent then is not read."""
    states = [file.read_text().rpartition(")")[2].split()[0] for file in Path(f"/proc/{process}/task").glob("*/stat")]
    return set(states) == {"T"}


def test_who_spoke_meanwhile_is_kept_and_who_did_not_is_not(tmp_path: Path) -> None:
    """Everybody was closed: time had passed, and what they had sent was not read yet."""
    with RunningBroker(tmp_path).wait_until_ready() as broker, contextlib.ExitStack() as open_ones:
        speaking = [open_ones.enter_context(connected(broker.url, name)) for name in "abcd"]
        silent = open_ones.enter_context(connected(broker.url, "s"))
        broker.process.send_signal(signal.SIGSTOP)
        try:
            while not is_stopped(broker.process.pid):
                time.sleep(0.001)
            for client in speaking:
                client.sendall(PINGREQ)
            time.sleep(STOPPED_S)
        finally:
            broker.process.send_signal(signal.SIGCONT)
        assert [client.recv(100) for client in speaking] == [PINGRESP] * 4
        assert silent.recv(100) == b""
        assert broker.end() == 0
