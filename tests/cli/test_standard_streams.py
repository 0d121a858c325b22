"""A broker whose standard output and error take nothing, or are not there: are its data and its clients well?"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path

from commands import LAPWING, TIMEOUT_S, clean_environment

CLOSED = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]


def started(folder: Path, *before: str, **streams: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """A broker on a Unix socket, and a client that it has greeted."""
    path = str(folder / "socket")
    command = [
        *before,
        *LAPWING,
        "broker",
        "--listen",
        f"unix://{path}",
        "--http",
        "off",
        "--data",
        str(folder / "data"),
    ]
    process = subprocess.Popen([*command, "--set", "broker.pin=false"], env=clean_environment(), **streams)
    until = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until and process.poll() is None:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(TIMEOUT_S)
        try:
            client.connect(path)
        except OSError:
            client.close()
            time.sleep(0.01)
            continue
        client.sendall(bytes.fromhex("10 10 0004 4d515454 05 02 003c 00 0003 616263"))
        assert client.recv(100)[:1] == b"\x20", "CONNACK"
        return process, client
    raise AssertionError(f"the broker does not listen: {process.poll()}")


def test_closed_ones_are_no_files_of_the_broker(tmp_path: Path) -> None:
    """Its lock and a segment of its log had the numbers 0 and 1, and whatever was printed went there."""
    process, client = started(tmp_path, *CLOSED)
    with client:
        opened = [str(Path(f"/proc/{process.pid}/fd/{number}").readlink()) for number in range(3)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0
    assert opened == ["/dev/null"] * 3


def test_a_full_disk_for_its_words_ends_no_broker(tmp_path: Path) -> None:
    """It did not start, or ended with the first line that found no room."""
    with Path("/dev/full").open("wb") as full:
        process, client = started(tmp_path, stdout=full.fileno(), stderr=full.fileno())
    with client:
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0
