"""One run: load, faults, and the count in the end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from tests.crash.power import compile_library
from tests.faults.faulty_disk import FaultyDisk

from lapwing.lab.kafka import LocalKafka

from .count import TopicCount, count_tables
from .load import Load
from .outcome import Outcome
from .parts import TOPIC, BrokerPart, Members

_DEVICES = 20
_MEMBERS = 2
_PARTITIONS = 4
_CATCH_UP_S = 180.0
_END_S = 20.0
"""A server whose disk is full ends by itself, mostly within a second or two: at its next write."""
_DISK_FAULTS = Path(__file__).parent.parent / "faults" / "disk_faults.c"


class Run:
    """Everybody, and the clock of the faults.

    Args:
        seed: Of what goes wrong, and when.
        folder: A new one: gets data and logs of everybody.
        per_s: Readings in a second, over all devices.
        tell: Is told what the run does now.
    """

    def __init__(self, seed: int, folder: Path, per_s: int, tell: Callable[[str], None]) -> None:
        self._random = random.Random(seed)
        self._folder, self._tell = folder.absolute(), tell
        switches = self._folder / "disk"
        switches.mkdir(parents=True)
        library = compile_library(self._folder, _DISK_FAULTS)
        self._disk = FaultyDisk(switches, library, self._folder / "kafka" / "data")
        self._kafka = LocalKafka(self._folder / "kafka", environment=self._disk.variables)
        self._broker = BrokerPart(folder)
        self._members = Members(_MEMBERS, self._broker.url, self._kafka.bootstrap, folder)
        self._load = Load(self._broker.url, _DEVICES, per_s)
        self.outcome = Outcome()

    def go(self, seconds: float, faults_max: int | None = None) -> Outcome:
        """Runs for so long, or until so many faults are done, and counts."""
        self._kafka.start()
        self._kafka.create_topic(TOPIC, partitions=_PARTITIONS)
        try:
            self._broker.start()
            self._broker.wait_until_ready()
            self._members.start()
            self._load.start()
            self._faults(seconds, faults_max)
            self._load.end(_CATCH_UP_S)
            self._count()
            return self.outcome
        finally:
            self._members.end()
            self._broker.kill()
            self._kafka.stop()

    def _faults(self, seconds: float, faults_max: int | None) -> None:
        began = time.monotonic()
        for fault in islice(self._plan(), faults_max):
            if (left_s := seconds - (time.monotonic() - began)) <= 0:
                break
            time.sleep(min(left_s, self._random.uniform(1.0, 4.0)))
            self._did(fault.__name__.strip("_"))
            fault()
        self.outcome.seconds = time.monotonic() - began

    def _plan(self) -> Iterator[Callable[[], None]]:
        """Each kind once, in any order, and then again."""
        kinds = [
            self._kafka_killed,
            self._kafka_paused,
            self._kafka_restarted,
            self._kafka_disk_full,
            self._member_killed,
            self._broker_killed,
        ]
        while True:
            yield from self._random.sample(kinds, len(kinds))

    def _kafka_killed(self) -> None:
        self._kafka.kill()
        self._member_may_die()
        time.sleep(self._random.uniform(0.0, 3.0))
        self._kafka.start()

    def _kafka_paused(self) -> None:
        self._kafka.pause()
        self._member_may_die()
        time.sleep(self._random.uniform(0.5, 6.0))
        self._kafka.resume()

    def _kafka_restarted(self) -> None:
        self._kafka.stop()
        self._kafka.start()

    def _kafka_disk_full(self) -> None:
        """A server that cannot write its only folder ends by itself, and starts when there is room again."""
        self._disk.begin("full")
        self._member_may_die()
        deadline = time.monotonic() + _END_S
        while self._kafka.is_running and time.monotonic() < deadline:
            time.sleep(0.05)
        if not self._kafka.is_running:
            self.outcome.did("kafka_ended_by_full_disk")
        self._kafka.kill()
        time.sleep(self._random.uniform(0.0, 2.0))
        self._disk.end("full")
        self._kafka.start()

    def _member_killed(self) -> None:
        self._members.kill(self._random.randrange(_MEMBERS))

    def _broker_killed(self) -> None:
        self._broker.kill()
        self._member_may_die()
        time.sleep(self._random.uniform(0.0, 2.0))
        self._broker.start()
        self._broker.wait_until_ready()

    def _member_may_die(self) -> None:
        """Two things go wrong at once, now and then."""
        if self._random.random() < 0.3:
            self._member_killed()
            self._did("member_killed_meanwhile")

    def _did(self, fault: str) -> None:
        self.outcome.did(fault)
        self._tell(fault.replace("_", " "))

    def _count(self) -> None:
        outcome, count = self.outcome, TopicCount(self._load.acknowledged)
        outcome.acknowledged = self._load.total
        self._tell("counting records")
        count.read(self._kafka.bootstrap, TOPIC, outcome, _CATCH_UP_S)
        outcome.lost = count.left
        if outcome.lost:
            outcome.findings.append(f"{outcome.lost:,} acknowledged messages are in no record")
        self._tell("counting rows of the tables")
        source = f"kafka://{self._kafka.bootstrap}/{TOPIC}"
        outcome.findings += count_tables(source, self._folder / "tables", outcome)
