"""What others feel of one address that floods the broker: p50 and p99 at QoS 1 beside it, who is let in, and memory.

Every kind of flood has a row: strangers before CONNECT, guesses of passwords, ClientHellos for each kind of key, half
handshakes and half heads of HTTP, and clients in bad faith. The broker has one event loop and all its other threads on
one core: there is no harder place to keep them apart. Load, known clients and flood share the other core.

So the load feels two things: what the flood costs the broker, and that somebody computes on its own core. Each round
has therefore three parts: the load alone, beside a process that only computes, beside the flood. The targets: others'
p99 beside the flood within twice that beside the computing process, no known client refused, memory within 64 MiB; what
the machine adds is said too. Of known clients, those behind the flood's own address are counted apart: until its
handshake is done, nothing tells a client from a flood that comes from where it does.

    python -m benches floods                         all
    python -m benches.floods_bench RSA "wrong pass"  those with such a word in their name
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from benches import machine
from benches.brokers import RunningBroker
from benches.company import Company
from benches.flood_clients import COMPUTES, HELLO, KINDS
from benches.flooded_broker import KEYS, Doors, flooded, write_identities
from benches.known_clients import ADDRESSES, Attempts, attempt
from benches.load import Report, swarm
from benches.resident import resident_mib
from benches.table import print_table, verdict

BROKER, CLIENTS = {0}, {1}
RATE_PER_S = 2_000
PAIRS = 50
RATIO_MAX = 2.0
GROWTH_MIB_MAX = 64.0
SAMPLE_S = 0.05
COLUMNS = (
    "flood",
    "begun/s",
    "p50 alone us",
    "computing",
    "flood",
    "p99 alone us",
    "computing",
    "flood",
    "ratio",
    "lost",
)
KNOWN_COLUMNS = (
    "flood",
    "known clients",
    "refused",
    "p99 ms",
    "behind the flood",
    "refused",
    "p99 ms",
    "memory MiB",
    "others' cores",
)


@dataclasses.dataclass
class Round:
    """One round of one flood."""

    alone: Report
    computing: Report
    beside: Report
    begun_per_s: float
    known: dict[str, Attempts]
    growth_mib: float


class Peak:
    """The most memory that a process has while the block runs, beyond what it had before, in MiB."""

    def __init__(self, pid: int) -> None:
        self._pid, self._over = pid, threading.Event()
        self._before = self._most = resident_mib(pid)
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self._most = max(self._most, resident_mib(self._pid))

    @property
    def growth_mib(self) -> float:
        """So much more it had."""
        return self._most - self._before


def _spawn(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, CLIENTS),
    )


def _way(kind: str, doors: Doors) -> tuple[str, int]:
    """How known clients come beside a flood of this kind: through the same door."""
    if kind in HELLO:
        name = next(name for name in KEYS if kind.endswith(name))
        return "tls", doors.tls[name]
    if "ClientHello" in kind:
        return "tls", doors.tls["ECDSA P-256"]
    if "WebSocket" in kind:
        return "ws", doors.ws
    if "HTTP" in kind:
        return "http", doors.http
    return "tcp", doors.tcp


@contextlib.contextmanager
def _flood(kind: str, doors: Doors) -> Iterator[list[int]]:
    """The flood at work; then how many connections it began."""
    begun: list[int] = []
    process = _spawn("benches.flood_clients", kind, json.dumps(dataclasses.asdict(doors)))
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        raise RuntimeError(f'the flood "{kind}" has ended with {process.wait()} before it began')
    try:
        yield begun
    finally:
        process.terminate()
        begun.append(int(process.communicate()[0]))


def _load(broker: RunningBroker, seconds: float) -> Report:
    return swarm("p2p", broker.url, CLIENTS, seconds=seconds, publishers=PAIRS, rate=RATE_PER_S, qos=1)


def _round(kind: str, identities: Path, seconds: float) -> Round:
    with flooded(BROKER, identities) as (broker, doors):
        way, port = _way(kind, doors)
        for address in ADDRESSES.values():
            attempt("tcp", doors.tcp, address, Attempts())
        alone = _load(broker, seconds)
        with _flood(COMPUTES, doors):
            computing = _load(broker, seconds)
        with Peak(broker.pid) as peak, _flood(kind, doors) as begun:
            known = _spawn("benches.known_clients", way, str(port), str(seconds))
            beside = _load(broker, seconds)
            found = {place: Attempts(**values) for place, values in json.loads(known.communicate()[0]).items()}
        return Round(alone, computing, beside, begun[0] / seconds, found, peak.growth_mib)


def _p99(values: list[float]) -> float | None:
    return sorted(values)[len(values) * 99 // 100] if values else None


class Rows:
    """The table, as it grows, and the worst of it."""

    def __init__(self) -> None:
        self.load: list[tuple[object, ...]] = []
        self.known: list[tuple[object, ...]] = []
        self.ratio = self.machine = self.growth_mib = 0.0
        self.refused = 0

    def add(self, kind: str, rounds: list[Round], company: Company) -> None:
        """One flood; ``company``: since its first round."""

        def median(when: str, name: str) -> float:
            return float(statistics.median(getattr(one, when)["latency_us"][name] for one in rounds))

        parts = ("alone", "computing", "beside")
        alone, computing, beside = (median(part, "p99") for part in parts)
        ratio = beside / computing
        figures = [*(median(part, "p50") for part in parts), alone, computing, beside, ratio]
        begun_per_s = statistics.median(one.begun_per_s for one in rounds)
        self.load.append((kind, begun_per_s, *figures, sum(one.beside["lost"] for one in rounds)))
        growth_mib = max(one.growth_mib for one in rounds)
        known: list[object] = []
        for place in ("other", "same"):
            took_ms = [value for one in rounds for value in one.known[place].took_ms]
            refused = sum(one.known[place].refused for one in rounds)
            known += [len(took_ms) + refused, refused, _p99(took_ms)]
        self.known.append((kind, *known, growth_mib, company.cores()))
        self.ratio, self.growth_mib = max(self.ratio, ratio), max(self.growth_mib, growth_mib)
        self.machine = max(self.machine, computing / alone)
        self.refused += sum(one.known["other"].refused for one in rounds)


def measure(kinds: list[str], rounds: int, seconds: float) -> None:
    """Prints the table of ``kinds``, and whether the targets are reached."""
    rows = Rows()
    with tempfile.TemporaryDirectory(prefix="lapwing-bench-") as folder:
        write_identities(Path(folder))
        for kind in kinds:
            company = Company()
            rows.add(kind, [_round(kind, Path(folder), seconds) for _ in range(rounds)], company)
    title = f"medians of {rounds} alternating runs of {seconds:.0f} s"
    print_table(f"{PAIRS} pairs at {RATE_PER_S:,} messages/s, QoS 1, beside a flood; {title}", COLUMNS, rows.load)
    print_table("known clients that come in beside it, and the most memory that it costs", KNOWN_COLUMNS, rows.known)
    verdict("p99 beside a flood, times that beside a process that only computes", rows.ratio, RATIO_MAX, at_most=True)
    verdict("known clients of another address that were refused", rows.refused, 0, at_most=True)
    verdict("MiB that a flood costs", rows.growth_mib, GROWTH_MIB_MAX, at_most=True)
    print(
        f"  finding: beside a process that only computes p99 is up to {rows.machine:.1f} times that of the load alone:"
    )
    print("           that is the machine's, where clients share a core with whoever floods")


def run(*, quick: bool) -> None:
    """Prints one row per kind of flood, and whether the targets are reached."""
    measure(list(KINDS), *((1, 2.0) if quick else (5, 3.0)))


if __name__ == "__main__":
    print(machine.describe())
    wanted = [kind for kind in KINDS if any(word in kind for word in sys.argv[1:])]
    measure(wanted or list(KINDS), 5, 3.0)
