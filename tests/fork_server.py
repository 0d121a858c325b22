"""`lapwing` as a process at once: forked from one that has imported it, so that a run of tests pays for a start once.

Most of what the thousand commands of a run cost is the import of the same modules. What is forked here is a process
like any other, with a pid, files, a folder and an environment of its own; it may be killed, and its exit code is told.
A start of the interpreter is not among it: what a variable does to that (`LD_PRELOAD`, `PYTHON...`) needs a real one.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

COMMANDS = ("broker", "bridge", "pub", "sub", "stream", "clients", "sessions", "groups", "store", "user", "config")
"""What is imported before: none of it starts a thread, which a fork would lose."""
_REQUEST_BYTES_MAX = 1 << 17
_STATUS = struct.Struct("!i")


@dataclass(frozen=True)
class Request:
    """A command: its arguments, folder and environment."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]


class Forked:
    """A command that runs: as much of `subprocess.Popen` as tests use."""

    def __init__(self, pid: int, status: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout, self.stderr = (os.fdopen(file, encoding="utf-8", errors="replace") for file in (stdout, stderr))
        self._status = status

    def poll(self) -> int | None:
        """Its exit code, the negative signal that ended it, or None: it runs."""
        return self._look(0)

    def wait(self, timeout_s: float | None = None) -> int:
        """Until it has ended; gives its exit code.

        Raises:
            subprocess.TimeoutExpired: it runs on.
        """
        code = self._look(timeout_s)
        if code is None:
            raise subprocess.TimeoutExpired("lapwing", timeout_s or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing, if it has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout_s: float | None) -> int | None:
        with selectors.DefaultSelector() as selector:
            if self.returncode is None:
                selector.register(self._status, selectors.EVENT_READ)
                if not selector.select(timeout_s):
                    return None
                told = os.read(self._status, _STATUS.size)
                os.close(self._status)
                assert told, "the process that forks commands has ended"
                (self.returncode,) = _STATUS.unpack(told)
        return self.returncode


class ForkServer:
    """The process that forks; it ends with this one."""

    def __init__(self) -> None:
        self._door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def start(self, request: Request) -> Forked:
        """Starts a command with nothing to read; its output and errors can be read."""
        pairs = [os.pipe() for _ in range(3)]
        (status, told), (stdout, out), (stderr, err) = pairs
        with self._lock:
            socket.send_fds(self._door, [json.dumps(asdict(request)).encode()], [told, out, err])
            for file in (told, out, err):
                os.close(file)
            answer = self._door.recv(_STATUS.size)
        assert answer, "the process that forks commands has ended"
        return Forked(_STATUS.unpack(answer)[0], status, stdout, stderr)


def serve(door: socket.socket) -> Request | None:
    """Forks until nobody asks any more: None then, and the request in each process that was forked."""
    statuses: dict[int, int] = {}
    heard, told = socket.socketpair()
    for end in (heard, told):
        end.setblocking(False)
    signal.set_wakeup_fd(told.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C is for the tests.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with selectors.DefaultSelector() as selector:
        selector.register(door, selectors.EVENT_READ)
        selector.register(heard, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if heard in ready:
                heard.recv(1 << 12)
                _tell_of_ends(statuses)
            if door not in ready:
                continue
            asked, files, _, _ = socket.recv_fds(door, _REQUEST_BYTES_MAX, 3)
            if not asked:
                return None
            status, out, err = files
            if pid := os.fork():
                statuses[pid] = status
                os.close(out)
                os.close(err)
                door.send(_STATUS.pack(pid))
                continue
            signal.set_wakeup_fd(-1)
            os.dup2(out, 1)
            os.dup2(err, 2)
            for file in (door.detach(), heard.detach(), told.detach(), out, err, status, *statuses.values()):
                os.close(file)
            return Request(**json.loads(asked))


def _tell_of_ends(statuses: dict[int, int]) -> None:
    while statuses:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        file = statuses.pop(pid)
        # Nobody may want to know any more.
        with contextlib.suppress(BrokenPipeError):
            os.write(file, _STATUS.pack(os.waitstatus_to_exitcode(status)))
        os.close(file)


def become(request: Request) -> None:
    """Runs the command in this process, as `python -m lapwing` would."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    sys.path[0] = request.folder
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), "utf-8")  # noqa: SIM115  (open as long as the process)
    sys.stderr = io.TextIOWrapper(open(2, "wb", closefd=False), "utf-8", "backslashreplace", line_buffering=True)  # noqa: SIM115
    sys.argv = ["lapwing", *request.arguments]
    main = importlib.import_module("lapwing.cli.app").main
    main(request.arguments)


def _import_all() -> None:
    for command in COMMANDS:
        importlib.import_module(f"lapwing.cli.{command}")
    for module in ("lapwing.broker", "lapwing.client"):
        importlib.import_module(module)
    tasks = [task.name for task in Path("/proc/self/task").iterdir()]
    assert len(tasks) == 1, f"an import has started threads: {tasks}"
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import_all()
    if (request := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        become(request)
