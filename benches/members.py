"""A cluster to measure: members on loopback, made by the commands that a user gives, each a process."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.brokers import READY_SECONDS_MAX, RunningBroker
from lapwing.lab.ports import free_ports

LAPWING = (sys.executable, "-m", "lapwing")


@dataclass(frozen=True)
class RunningMembers:
    """A cluster whose first node serves."""

    active: RunningBroker
    standby_pids: Sequence[int]

    def cpu_s(self) -> tuple[float, float]:
        """CPU seconds of who serves, and of each who stands by on average."""
        standbys = [_cpu_s(pid) for pid in self.standby_pids]
        return _cpu_s(self.active.pid), sum(standbys) / len(standbys) if standbys else 0.0


@contextlib.contextmanager
def members(
    count: int, cpus: set[int], settings: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Iterator[RunningMembers]:
    """``count`` nodes with a vote on ``cpus``; the first has ``environment`` besides."""
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lapwing-members-")))
        nodes = [_Node(home, f"n{number}", settings) for number in range(1, count + 1)]
        _run("cluster", "init", *nodes[0].settings)
        first = stack.enter_context(nodes[0].running(cpus, environment))
        _until(nodes[0].serves, "the first node serves")
        pids = [first]
        for there, node in enumerate(nodes[1:], 2):
            token = _run("cluster", "token", "--url", nodes[0].http).strip()
            _run("cluster", "join", token, *node.settings)
            pids.append(stack.enter_context(node.running(cpus)))
            _until(lambda there=there: nodes[0].voters() == there, f"{node.name} votes")
        yield RunningMembers(RunningBroker(f"lapwing, {count} nodes", nodes[0].url, pids[0]), pids[1:])


class _Node:
    def __init__(self, home: Path, name: str, settings: Sequence[str]) -> None:
        peers, mqtt, http = free_ports(3)
        self.name, self._home = name, home
        self.url, self.http = f"tcp://127.0.0.1:{mqtt}", f"http://127.0.0.1:{http}"
        own = (
            f"broker.data={home / name}",
            f'broker.listen=["{self.url}"]',
            f"broker.http=127.0.0.1:{http}",
            f"cluster.name={name}",
            f"cluster.listen=127.0.0.1:{peers}",
            "broker.shards=1",
        )
        self.settings = [word for setting in (*own, *settings) for word in ("--set", setting)]

    @contextlib.contextmanager
    def running(self, cpus: set[int], environment: Mapping[str, str] | None = None) -> Iterator[int]:
        """Its process's number."""
        with (self._home / f"{self.name}.log").open("ab") as output:
            process = subprocess.Popen(
                [*LAPWING, "broker", *self.settings],
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                preexec_fn=lambda: os.sched_setaffinity(0, cpus),
            )
        try:
            yield process.pid
        finally:
            process.kill()
            process.wait()

    def serves(self) -> bool:
        """Whether clients can connect to it."""
        with contextlib.suppress(OSError, urllib.error.HTTPError):
            return urllib.request.urlopen(f"{self.http}/readyz", timeout=5).status == 200
        return False

    def voters(self) -> int:
        """Nodes whose disk counts, as this one sees it."""
        with urllib.request.urlopen(f"{self.http}/v1/cluster", timeout=5) as answer:
            return sum(node["standing"] == "voter" for node in json.load(answer)["nodes"])


def _run(*words: str) -> str:
    done = subprocess.run([*LAPWING, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"lapwing {words[0]} {words[1]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY_SECONDS_MAX
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(f"within {READY_SECONDS_MAX:.0f} s not: {what}")
        time.sleep(0.02)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
