"""Brokers to measure, each a process on the cores it is given: Lapwing, and Mosquitto as the peer."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lapwing.lab.ports import free_port

READY_SECONDS_MAX = 20.0


@dataclass(frozen=True)
class RunningBroker:
    """A broker process that answers on `url`."""

    name: str
    url: str
    pid: int


def wait_for_port(port: int, alive: Callable[[], str | None] = lambda: None) -> None:
    """Returns when something listens on `port` of loopback; `alive` says why it never will.

    Raises:
        RuntimeError: nobody listens in time, or `alive` gave a reason.
    """
    deadline = time.monotonic() + READY_SECONDS_MAX
    while time.monotonic() < deadline:
        if reason := alive():
            raise RuntimeError(reason)
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"nobody listened on port {port} within {READY_SECONDS_MAX:.0f} s")


@contextlib.contextmanager
def _running(name: str, command: Sequence[str], port: int, cpus: set[int], home: Path) -> Iterator[RunningBroker]:
    log = home / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=home, preexec_fn=lambda: os.sched_setaffinity(0, cpus)
        )
    try:
        wait_for_port(port, lambda: None if process.poll() is None else log.read_text()[-2000:] or "it ended")
        yield RunningBroker(name, f"tcp://127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def lapwing(
    cpus: set[int],
    shards: int = 1,
    settings: Sequence[str] = (),
    home: Path | None = None,
    arguments: Sequence[str] = (),
) -> Iterator[RunningBroker]:
    """`lapwing broker` on `cpus` with `shards` event loops; `settings` are KEY=VALUE for `--set`.

    ``arguments`` come behind them as they are.

    ``home`` has its data folder, which stays; by default a new one that goes with it.
    """
    with contextlib.ExitStack() as stack:
        folder = home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lapwing-bench-")))
        program = (sys.executable, "-m", "lapwing", "broker")
        port, command = _command(program, folder, shards, settings, arguments)
        label = f"lapwing, {shards} shard" + ("s" if shards > 1 else "")
        yield stack.enter_context(_running(label, command, port, cpus, folder))


def find_lapwingd() -> Path | None:
    """The executable of ``make lapwingd`` in this tree, or None."""
    executable = Path(__file__).parents[1] / "target" / "edge" / "lapwingd"
    return executable if executable.is_file() else None


@contextlib.contextmanager
def lapwingd(cpus: set[int], shards: int = 1, arguments: Sequence[str] = ()) -> Iterator[RunningBroker]:
    """The same by the executable, with the same settings.

    Raises:
        RuntimeError: it is not built.
    """
    executable = find_lapwingd()
    if executable is None:
        raise RuntimeError("there is no target/edge/lapwingd: make lapwingd")
    with tempfile.TemporaryDirectory(prefix="lapwingd-bench-") as folder:
        port, command = _command((str(executable),), Path(folder), shards, (), arguments)
        with _running("lapwingd", command, port, cpus, Path(folder)) as broker:
            yield broker


def _command(
    program: Sequence[str], folder: Path, shards: int, settings: Sequence[str], arguments: Sequence[str]
) -> tuple[int, list[str]]:
    """A free port, and the command line of a broker that listens on it and keeps its data in ``folder``."""
    port = free_port()
    command = [*program, "--listen", f"tcp://127.0.0.1:{port}"]
    command += ["--data", f"{folder}/data", "--set", f"broker.shards={shards}"]
    for setting in settings:
        command += ["--set", setting]
    return port, [*command, *arguments]


@contextlib.contextmanager
def mosquitto(cpus: set[int], *, saves: bool = False) -> Iterator[RunningBroker]:
    """Mosquitto at its fastest: no persistence, no log, no queue limit that would drop, Nagle off.

    ``saves``: with its strictest settings instead: all that it holds is written and synced after each turn that changed
    something (`strace` of 2.0.11 shows an fsync and a rename a turn), after the turn's acknowledgements have gone out.
    """
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="mosquitto-bench-") as folder:
        settings = Path(folder, "mosquitto.conf")
        lines = [
            f"listener {port} 127.0.0.1",
            "allow_anonymous true",
            "log_type none",
            "set_tcp_nodelay true",
        ]
        if saves:
            lines += ["persistence true", f"persistence_location {folder}/", "autosave_on_changes true"]
            lines += ["autosave_interval 1"]
        settings.write_text("\n".join([*lines, "max_queued_messages 0", "max_inflight_messages 0", ""]))
        with _running("mosquitto", [program, "-c", str(settings)], port, cpus, Path(folder)) as broker:
            yield broker
