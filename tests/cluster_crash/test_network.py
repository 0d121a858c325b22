"""Is what one node sends to another lost while that is cut, and nothing else; and does nothing stay behind?"""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from .network import NAMESPACES, PREFIX, Network, remove_leftovers

pytestmark = pytest.mark.usefixtures("needs_network")
TIMEOUT_S = 30
LOST_S = 0.5
"""What has not come by then counts as lost; that it comes when the cut is healed says that it was."""


def connected(network: Network) -> tuple[socket.socket, socket.socket]:
    """Sockets of the nodes 0 and 1."""
    with network.inside(1):
        server = socket.create_server((network.address(1), 0))
    with server, network.inside(0):
        first = socket.create_connection(server.getsockname(), TIMEOUT_S)
        second, _ = server.accept()
    second.settimeout(TIMEOUT_S)
    return first, second


def namespaces() -> list[str]:
    return [name for name in os.listdir(NAMESPACES) if name.startswith(f"{PREFIX}{os.getpid()}-")]


def test_a_cut_has_a_direction_and_an_end() -> None:
    with Network(2) as network:
        first, second = connected(network)
        with first, second:
            network.cut(0, 1)
            first.sendall(b"lost")
            second.sendall(b"other way")
            assert first.recv(20) == b"other way"
            second.settimeout(LOST_S)
            with pytest.raises(TimeoutError):
                second.recv(20)
            second.settimeout(TIMEOUT_S)
            network.heal()
            assert second.recv(20) == b"lost"
        assert namespaces()
    assert not namespaces()


def test_this_thread_is_where_it_was() -> None:
    """In a block and behind it, and in a block within a block."""

    def here() -> str:
        return os.readlink("/proc/thread-self/ns/net")

    before = here()
    with Network(2) as network, network.inside(0):
        first = here()
        with network.inside(1):
            assert here() not in (before, first)
        assert here() == first
    assert here() == before


def test_what_a_killed_run_has_left_is_removed() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    name = f"{PREFIX}{ended.pid}-0-hub"
    subprocess.run(["ip", "netns", "add", name], check=True)
    with Network(1):
        remove_leftovers()
        assert namespaces()
    assert not Path(NAMESPACES, name).exists()
