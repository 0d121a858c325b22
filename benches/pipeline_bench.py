"""How fast is the pipeline? Source to counted DataFrame, and the whole job `coverage`, cold and warm, also from Kafka.

    python -m benches pipeline [--quick]
    python benches/pipeline_bench.py [--readings 3000000] [--batch 1000000] [--repeats 0.01] [--no-kafka]

Serves the stream from a process of its own that keeps it in memory; what is measured is Spark's side. A Kafka server
(`make kafka-jars spark-jars`) has the same readings, with a bridge's headers, and shares the machine; its CPU is not in
the last column.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "pipeline"), str(ROOT / "python")]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))


def serve(pipe: Connection, rows: int, partitions: int, repeats: float) -> None:
    """The stream, until the pipe speaks."""
    import messages
    import served_stream

    stream = served_stream.ServedStream(partitions)
    # A device is always on the same partition, as with key = "client".
    fleets = [
        messages.fleet(rows // partitions, devices=250, seed=p, repeats=repeats, name=f"dev-{p}")
        for p in range(partitions)
    ]
    for partition, fleet in enumerate(fleets):
        for batch in fleet:
            stream.append(partition, batch)
    pipe.send(stream.url)
    pipe.recv()


def run(*, quick: bool = False) -> None:
    """As `python -m benches pipeline` calls it."""
    measure(readings=300_000 if quick else 3_000_000, batch=1_000_000, partitions=4, repeats=0.01, runs=2)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readings", type=int, default=3_000_000)
    parser.add_argument("--batch", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--repeats", type=float, default=0.01)
    parser.add_argument("--runs", type=int, default=2, help="runs of the whole job: the first is cold")
    parser.add_argument("--kafka", action=argparse.BooleanOptionalAction, default=True)
    measure(**vars(parser.parse_args()))


def measure(*, readings: int, batch: int, partitions: int, repeats: float, runs: int, kafka: bool = True) -> None:
    """Serves the stream, and measures job and source."""
    here, there = Pipe()
    server = Process(target=serve, args=(there, readings, partitions, repeats), daemon=True)
    server.start()
    there.close()  # so that a server that fails is the end, and not a wait for ever
    url = here.recv()
    cores = len(os.sched_getaffinity(0))
    print(f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, {readings:,} readings")
    print(f"{'what':<44}{'seconds':>9}{'rows/s':>12}{'core-us/row':>13}")
    cpu = Cpu(server.pid or 0)
    jobs(url, batch, runs, cpu, "stream")
    if kafka:
        with filled_topic(readings, partitions, repeats, cpu) as topic:
            jobs(topic, batch, runs, cpu, "Kafka")
    source(url, cpu)
    here.send("stop")


@contextmanager
def filled_topic(readings: int, partitions: int, repeats: float, cpu: Cpu) -> Iterator[str]:
    """A topic with the readings that the stream has."""
    import messages
    from kafka_stream import KafkaStream

    from lapwing.lab.kafka import LocalKafka

    with tempfile.TemporaryDirectory() as folder, LocalKafka(folder) as server:
        cpu.others.add(server.pid or 0)
        topic = KafkaStream(server, "readings", partitions)
        for p in range(partitions):
            for batch in messages.fleet(readings // partitions, devices=250, seed=p, repeats=repeats, name=f"dev-{p}"):
                topic.append(p, batch)
        cpu.since()
        yield topic.url


class Cpu:
    """CPU seconds of this process and its descendants, but for the servers: what other work on the machine hides."""

    def __init__(self, server: int) -> None:
        self.others = {server}
        self.last = self.seconds()

    def seconds(self) -> float:
        """Of those alive, and of their children that have ended."""
        stats = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
                stats[int(folder.name)] = (int(after_name[1]), sum(map(int, after_name[11:15])))
        ours, grown = {os.getpid()}, True
        while grown:
            more = {pid for pid, (parent, _) in stats.items() if parent in ours and pid not in self.others} - ours
            ours, grown = ours | more, bool(more)
        return sum(stats[pid][1] for pid in ours if pid in stats) / os.sysconf("SC_CLK_TCK")

    def since(self) -> float:
        """Since the last call."""
        now = self.seconds()
        took, self.last = now - self.last, now
        return took


def told(what: str, seconds: float, rows: int, cpu: float) -> None:
    """One line of the table."""
    print(f"{what:<44}{seconds:>9.2f}{rows / seconds:>12,.0f}{cpu / rows * 1e6:>13.1f}", flush=True)


def source(url: str, cpu: Cpu) -> None:
    """From the stream to a counted DataFrame."""
    from lapwing.pipeline.session import session

    spark = session()
    for name in ("none", "none", "none", "reading", "reading"):
        begun = time.monotonic()
        rows = spark.read.format("lapwing").option("url", url).option("decode", name).load().count()
        told(f"source to counted DataFrame, decode={name}", time.monotonic() - begun, rows, cpu.since())


def jobs(url: str, batch: int, runs: int, cpu: Cpu, name: str) -> None:
    """The whole job, all tables."""
    from lapwing.pipeline.jobs.coverage import run_coverage
    from lapwing.pipeline.jobs.progress import BatchProgress
    from lapwing.pipeline.source.spark_jars import KAFKA, find_jars, jar_settings

    def progress(done: BatchProgress) -> None:
        phases = ", ".join(f"{name} {took:.1f}" for name, took in done.seconds_by_phase.items())
        told(f"  batch {done.batch} ({phases})", done.seconds, done.rows, cpu.since())

    for number in range(runs):
        with tempfile.TemporaryDirectory() as out:
            begun = time.monotonic()
            # Jars come with the first job's session, or not at all.
            jars = jar_settings({}, (KAFKA,)) if find_jars((KAFKA,)) else {}
            conf = {"lapwing.max_rows_per_batch": str(batch), **jars}
            begun_cpu = cpu.seconds()
            result = run_coverage(url, out, conf=conf, draw=False, progress=progress)
            whole = time.monotonic() - begun
        told(
            f"coverage from {name}, all tables, {'warm' if number else 'cold'}",
            result.seconds,
            result.rows,
            cpu.seconds() - begun_cpu,
        )
        told(f"  with start and stop; {result.rows_in_tables}", whole, result.rows, cpu.since())


if __name__ == "__main__":
    main()
