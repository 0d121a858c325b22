"""Brokers of the experiment, each one process: Lapwing, whose group's policy is set while it runs, and its peers."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import BrokerError, ConfigError
from lapwing.lab.dispatch.links import Links
from lapwing.lab.dispatch.processes import cpu_s
from lapwing.lab.ports import free_ports

GROUP = "lab"
"""Share name of the group."""
_READY_S = 30.0
_END_S = 20.0
_SHOWN_CHARACTERS = 400


@dataclass(frozen=True)
class RunningBroker:
    """A broker process.

    Attributes:
        port: For the publisher.
        member_port: For members' links.
        expects_proxy: The members' port wants a PROXY header from a proxy.
        http: Its HTTP address; empty: none.
    """

    name: str
    pid: int
    port: int
    member_port: int
    expects_proxy: bool
    http: str

    def cpu_s(self) -> float:
        """Processor seconds so far."""
        return cpu_s(self.pid)


def _wait_for_port(name: str, address: tuple[str, int], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise BrokerError(f"{name} ended: {log.read_text(errors='replace')[-_SHOWN_CHARACTERS:].strip()}")
        try:
            socket.create_connection(address, timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise BrokerError(f"{name} did not listen within {_READY_S:g} s", where="{}:{}".format(*address))


@contextmanager
def _process(name: str, command: Sequence[str], folder: Path, *addresses: tuple[str, int]) -> Iterator[int]:
    """The process of the broker ``name``, once it listens at every one of ``addresses``; gives its id."""
    log = folder / "broker.log"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(  # noqa: S603 (a broker of the user's own choice)
                command, stdout=output, stderr=output, cwd=folder, env=environment, start_new_session=True
            )
        except OSError as error:
            raise ConfigError(f"{command[0]} does not start: {error.strerror}", where="--peer") from error
    try:
        for address in addresses:
            _wait_for_port(name, address, process, log)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def lapwing(links: Links, shards: int) -> Iterator[RunningBroker]:
    """Lapwing as a user starts it, with nothing set but addresses and limits that hold no policy back."""
    port, member_port, http_port = free_ports(3)
    has_proxy = links.device is None
    with tempfile.TemporaryDirectory(prefix="lapwing-lab-") as name:
        folder = Path(name)
        settings = folder / "lapwing.toml"
        settings.write_text(_SETTINGS.format(folder=folder, shards=shards, http_port=http_port, group=GROUP))
        with settings.open("a") as file:
            file.write(_LISTENER.format(host=links.host, port=port))
            if has_proxy:
                file.write(_LISTENER.format(host=links.host, port=member_port))
                file.write('proxy_protocol_from = ["127.0.0.1/32"]\n')
        command = [sys.executable, "-m", "lapwing", "broker", "--config", str(settings)]
        with _process("lapwing", command, folder, (links.host, port), ("127.0.0.1", http_port)) as pid:
            http = f"http://127.0.0.1:{http_port}"
            yield RunningBroker("lapwing", pid, port, member_port if has_proxy else port, has_proxy, http)


# Policies that do not bound what a member has must be able to show it: no queue of the broker ends a message here.
_SETTINGS = """\
[broker]
http = "127.0.0.1:{http_port}"
data = "{folder}/data"
shards = {shards}
pin = false

[limits]
receive_maximum = 65535
inflight_messages_max = 65535
queue_messages_max = 1000000
queue_bytes_max = "1GiB"
"""
_LISTENER = """
[[listeners]]
url = "tcp://{host}:{port}"
anonymous = true
"""


@dataclass(frozen=True)
class Peer:
    """Another broker.

    Args:
        command: Its words; ``{host}``, ``{port}`` and ``{folder}`` (new, empty, its working directory) are replaced.
        files: Files to write into that folder, replaced likewise: name and text.
    """

    name: str
    command: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()

    @contextmanager
    def running(self, links: Links) -> Iterator[RunningBroker]:
        """The broker, once it listens."""
        (port,) = free_ports(1)
        with tempfile.TemporaryDirectory(prefix=f"lapwing-lab-{self.name}-") as name:

            def filled(text: str) -> str:
                return text.replace("{host}", links.host).replace("{port}", str(port)).replace("{folder}", name)

            for file, text in self.files:
                Path(name, file).write_text(filled(text))
            with _process(self.name, [*map(filled, self.command)], Path(name), (links.host, port)) as pid:
                yield RunningBroker(self.name, pid, port, port, False, "")


_MOSQUITTO = """\
listener {port} {host}
allow_anonymous true
log_type none
set_tcp_nodelay true
max_queued_messages 0
max_inflight_messages 0
"""
_RUMQTTD = """\
id = 0

[router]
max_connections = 100
max_outgoing_packet_count = 200
max_segment_size = 104857600
max_segment_count = 10
shared_subscriptions_strategy = "roundrobin"

[v5.1]
name = "v5-1"
listen = "{host}:{port}"
next_connection_delay_ms = 1
    [v5.1.connections]
    connection_timeout_ms = 60000
    max_payload_size = 20480
    max_inflight_count = 100
    dynamic_filters = true
"""


def _mosquitto() -> Peer | None:
    program = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    return Peer("mosquitto", (program, "-c", "{folder}/peer.conf"), (("peer.conf", _MOSQUITTO),)) if program else None


def _rumqttd() -> Peer | None:
    program = shutil.which("rumqttd")
    return Peer("rumqttd", (program, "-c", "{folder}/peer.toml"), (("peer.toml", _RUMQTTD),)) if program else None


KNOWN: dict[str, Callable[[], Peer | None]] = {"mosquitto": _mosquitto, "rumqttd": _rumqttd}
"""Peers whose settings are known here; each needs its program on the PATH."""


def peer(text: str) -> Peer:
    """``NAME`` of one that is known here, or ``NAME=COMMAND``.

    Raises:
        ConfigError: neither, or the program is not there.
    """
    name, equals, command = text.partition("=")
    if equals:
        return Peer(name, tuple(shlex.split(command)))
    if name not in KNOWN:
        remedy = f"write NAME=COMMAND with {{host}} and {{port}} in it, or one of: {', '.join(KNOWN)}"
        raise ConfigError(f"no broker is known as {name!r}", where="--peer", remedy=remedy)
    found = KNOWN[name]()
    if found is None:
        raise ConfigError(f"{name} is not on the PATH", where="--peer", remedy="install it, or write NAME=COMMAND")
    return found
