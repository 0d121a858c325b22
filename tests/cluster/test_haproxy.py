"""Does `examples/haproxy-active.cfg` send clients to the node that serves, also when that is another one?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from marsh import Marsh, MarshNode, until

import lapwing
from lapwing.host_port import split_host_port
from lapwing.lab.ports import free_port

EXAMPLE = Path(__file__).parents[2] / "examples" / "haproxy-active.cfg"
PATH = f"{os.environ['PATH']}:/usr/sbin"


def configuration(nodes: list[MarshNode], port: int) -> str:
    """The example with other addresses."""
    text, fronts = re.subn(r"bind :1883", f"bind 127.0.0.1:{port}", EXAMPLE.read_text())
    lines = iter(nodes)

    def at(_: re.Match[str]) -> str:
        node = next(lines)
        http = split_host_port(node.http.removeprefix("http://"))[1]
        return f"server {node.name} {node.url.removeprefix('tcp://')} check port {http}"

    text, servers = re.subn(r"server n\d 10\.0\.0\.\d:1883 check port 8080", at, text)
    assert (fronts, servers) == (1, len(nodes))
    return text


@contextmanager
def haproxy(folder: Path, nodes: list[MarshNode]) -> Iterator[str]:
    """The URL of one that runs meanwhile."""
    program = shutil.which("haproxy", path=PATH)
    if program is None:
        pytest.skip("haproxy is missing: `make peers` installs it, where it can be had")
    port, file, log = free_port(), folder / "haproxy.cfg", folder / "haproxy.log"
    file.write_text(configuration(nodes, port))
    with log.open("wb") as said:
        process = subprocess.Popen([program, "-db", "-f", str(file)], stdout=said, stderr=said)
    try:
        yield f"tcp://127.0.0.1:{port}"
        assert process.poll() is None, log.read_text()
    finally:
        process.kill()
        process.wait()


def connected(url: str) -> lapwing.Client:
    """A client with a kept session, once a node serves."""
    found: list[lapwing.Client] = []

    def connects() -> bool:
        client = lapwing.Client(url, client_id="device", clean_start=False, session_expiry_s=600)
        try:
            found.append(client.connect())
        except lapwing.LapwingError:
            return False
        return True

    until(connects)
    return found[0]


def test_clients_come_to_the_node_that_serves(tmp_path: Path) -> None:
    """The active one is killed, then the next one steps down: each time the client finds its session."""
    with Marsh(tmp_path) as marsh, haproxy(tmp_path, [marsh.nodes[0], marsh.join(), marsh.join()]) as url:
        client = connected(url)
        assert not client.session_present
        client.subscribe("waits/#", qos=1)
        for end in (MarshNode.kill, step_down):
            with lapwing.Client(url) as other:
                other.publish("waits/here", end.__name__, qos=1)
                other.flush()
            end(marsh.active())
            with pytest.raises(lapwing.LapwingError):
                list(client.messages(60.0))
            client.abort()
            client = connected(url)
            assert client.session_present
        client.disconnect()


def step_down(node: MarshNode) -> None:
    """As an operator does."""
    from web import get

    assert get(f"{node.http}/v1/cluster/step-down", method="POST").status_code == 200
