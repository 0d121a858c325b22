"""The whole path: broker, devices, stream or bridge and Kafka, Spark, tables, pictures, figures.

The job runs while the devices send, as it would in earnest; what it measures as ``observed`` is its own
rhythm. Spark is started before the first device, so that its start is not in the figures.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from pyspark.sql import SparkSession

from lapwing.broker import Broker
from lapwing.lab.demo_folder import check_claim, claim, clear
from lapwing.lab.demo_kafka import GROUP, Arrivals, KafkaWay, bridged, kafka_server
from lapwing.lab.demo_screen import Screen
from lapwing.lab.demo_summary import Summary, summarise
from lapwing.lab.fleet import FleetRun
from lapwing.lab.kafka import find_jars
from lapwing.lab.malformed_rows import MalformedRows
from lapwing.lab.replay import ZONE, Replay
from lapwing.lab.source import Source
from lapwing.lab.synthetic import Synthetic
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.jobs.progress import BatchProgress
from lapwing.pipeline.report.facts import Facts
from lapwing.pipeline.session import check_machine
from lapwing.pipeline.sinks.paths import check_folder

STREAM = "readings"
"""The stream's name, and the Kafka topic's."""

FILTER = "spectrum/+/readings"
PARTITIONS = 2
CITY_SPEED = 60.0
"""Seconds of the made-up city per second of a demo, unless told otherwise."""

REPLAY_SPEED = 200.0
"""The same for traces: the longest of Cork's, two hours, is over in 36 seconds."""

CATCH_UP_S = 600.0


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What to demonstrate; the arguments of ``lapwing demo``."""

    out: Path
    devices: int = 200
    seconds: float = 20.0
    rate: float = 1.0
    replay: Path | None = None
    speed: float | None = None
    seed: int = 1
    kafka: bool = False
    """Through bridge members and a Kafka server, in place of the broker's stream."""
    zone: str = ZONE
    """The local time in which the traces were written."""

    def source(self) -> Source:
        """The readings.

        Raises:
            LapwingError: an argument is out of range, or the traces cannot be used.
        """
        if self.replay is not None:
            return Replay(self.replay, self._speed, self.zone)
        return Synthetic(self.devices, self.seconds, self.rate, self.seed, self._speed)

    def arguments(self) -> dict[str, Any]:
        """As ``summary.json`` shows them."""
        common = {"speed": self._speed, "seed": self.seed, "out": str(self.out), "kafka": self.kafka}
        if self.replay is not None:
            return {"replay": str(self.replay), "zone": self.zone, **common}
        return {"devices": self.devices, "seconds": self.seconds, "rate": self.rate, **common}

    @property
    def _speed(self) -> float:
        if self.speed is not None:
            return self.speed
        return CITY_SPEED if self.replay is None else REPLAY_SPEED


def run_demo(plan: DemoPlan, screen: Screen) -> Summary:
    """Runs the demo; ``plan.out`` then holds tables, pictures, report and ``summary.json``.

    Interrupted, it removes what it wrote.

    Raises:
        LapwingError: no Java, no jars of Kafka where they are needed, a folder that is not a demo's, traces that cannot
        be used, or a failure of a part.
    """
    begun = time.monotonic()
    check_machine(None, {})
    if plan.kafka:
        find_jars()
    check_claim(plan.out)
    check_folder("TMPDIR", Path(gettempdir()))
    with screen.phase("prepare", "preparing the readings"):
        source = plan.source()
    played = source if isinstance(source, Replay) else None
    if played is not None:
        screen.repairs(played.repairs)
        screen.malformed(played.malformed)
    claim(plan.out)
    try:
        fleet = _send_and_tabulate(plan, source, screen)
        with screen.phase("draw", "drawing"):
            facts = _drawn(plan, played.credit if played else "")
    except KeyboardInterrupt:
        _end_children()
        clear(plan.out)
        raise
    screen.seconds["total"] = time.monotonic() - begun
    summary = summarise(
        plan.arguments(),
        fleet,
        facts,
        screen.seconds,
        played.malformed if played else MalformedRows(),
        played.repairs if played else None,
    )
    summary.write(plan.out / "summary.json")
    return summary


def _send_and_tabulate(plan: DemoPlan, source: Source, screen: Screen) -> dict[str, Any]:
    """Broker, job and fleet, from start to end; gives the fleet's report."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="lapwing-demo-")))
        broker, way = _way(plan, scratch, stack, screen)
        tabulated = _Tabulated()
        with screen.phase("spark", "starting Spark"), _errors_to(plan.out / "spark.log"):
            job = CoverageJob(
                way.source if way else f"{broker.http_url}/v1/streams/{STREAM}",
                plan.out,
                checkpoint=scratch / "checkpoint",
                progress=tabulated.add,
            ).start()
        stack.enter_context(_ended(job, screen))
        fleet = stack.enter_context(FleetRun(broker.url, source.devices, seed=plan.seed))
        with screen.phase("connect", "connecting devices", len(source.devices)) as bar:
            fleet.connect(lambda counts: bar.at(counts.online))
        with screen.phase("send", "sending readings", source.readings_expected) as bar:
            tables = screen.bar("writing tables", source.readings_expected)
            tabulated.show = tables.at
            fleet.play(source, lambda counts: bar.at(counts.done))
            done = fleet.counts().done
            bar.at(done, done)
            tables.at(tabulated.messages, done)
        report = fleet.finish()
        with screen.phase("catch_up", "waiting for the last batch"):
            if way:
                way.wait_tabulated(tabulated.arrivals, report["acknowledged"], job, CATCH_UP_S)
            job.wait_caught_up(CATCH_UP_S)
        tables.finish()
        with screen.phase("stop", "stopping"):
            job.stop()
    return report


def _way(plan: DemoPlan, scratch: Path, stack: ExitStack, screen: Screen) -> tuple[Broker, KafkaWay | None]:
    """The broker with its stream; or with a group of bridge members, which carry everything to Kafka."""
    if not plan.kafka:
        with screen.phase("broker", "starting the broker"):
            streams = {STREAM: {"filter": FILTER, "partitions": PARTITIONS, "key": "client"}}
            return stack.enter_context(Broker(streams=streams, http="127.0.0.1:0")), None
    server = stack.enter_context(kafka_server(scratch / "kafka", STREAM, PARTITIONS, screen))
    with screen.phase("broker", "starting the broker"):
        # Declared, so that the broker keeps what the members have not taken yet.
        groups = {GROUP: {"filters": [FILTER]}}
        broker = stack.enter_context(Broker(groups=groups, envelope={"stamp": "always"}))
    return broker, stack.enter_context(bridged(broker, server, STREAM, FILTER, screen))


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """Meanwhile, and for the whole life of processes started meanwhile, standard error goes to a file.

    Spark's JVM and its workers inherit it; their chatter would tear the progress bars.
    """
    sys.stderr.flush()
    with path.open("ab") as file:
        kept = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)


@contextmanager
def _ended(job: CoverageJob, screen: Screen) -> Iterator[None]:
    """Stops the job at the end: after the batch at hand, or, interrupted, at once."""
    try:
        yield
    except KeyboardInterrupt:
        screen.note("interrupted: stopping, and removing what was written")
        session = SparkSession.getActiveSession()
        if session is not None:
            # What the batch at hand writes is removed with all else; waiting for it could take half a minute.
            # After this the job has nothing left to stop; its hold on the folder ends with the process.
            session.stop()
        raise
    except BaseException:
        job.stop()
        raise
    job.stop()


def _end_children() -> None:
    """Ends this process's children: a JVM interrupted while it starts would stay for ever (seen with
    PySpark 4.2).
    """
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread, or a child, that has ended meanwhile
            for child in task.read_text().split():
                os.kill(int(child), signal.SIGTERM)


class _Tabulated:
    """Counts the messages that are in the tables; batches report from a thread of Spark's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.messages = 0
        self.arrivals = Arrivals()
        self.show: Callable[[int], None] = lambda _messages: None

    def add(self, batch: BatchProgress) -> None:
        with self._lock:
            self.messages += batch.rows
        self.arrivals.add(batch)
        self.show(self.messages)


def _drawn(plan: DemoPlan, credit: str) -> Facts:
    # Late: matplotlib is large, and without Java nobody gets here.
    from lapwing.pipeline.report.draw import draw_with_facts

    return draw_with_facts(plan.out, credit=credit)
