"""Who can reach the ports that Spark's JVM listens on, and what becomes of a job where somebody does?"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

_LISTENS = "0A"
_LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}
"""127.0.0.1, ::1 and the first as the second writes it, on a little-endian machine."""


def listening(pid: int) -> set[tuple[str, int]]:
    """Addresses (in the kernel's hexadecimal) and TCP ports on which a process listens.

    Source: proc_pid_net(5): local address, state and inode.
    """
    own = {name for name in map(_linked, Path(f"/proc/{pid}/fd").iterdir()) if name.startswith("socket:")}
    rows = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    places = [row[1].split(":") for row in rows if row[3] == _LISTENS and f"socket:[{row[9]}]" in own]
    return {(address, int(port, 16)) for address, port in places}


def _linked(descriptor: Path) -> str:
    try:
        return os.readlink(descriptor)
    except FileNotFoundError:
        return ""  # closed in between


@pytest.fixture
def stranger(spark: SparkSession) -> Iterator[set[int]]:
    """Connects to each port that comes up, and goes away; gives the ports that it has been to."""
    pid = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    been, ended = set[int](), threading.Event()

    def knock() -> None:
        while not ended.is_set():
            for port in {port for _, port in listening(pid)} - been:
                been.add(port)
                with socket.socket() as caller:
                    caller.settimeout(5)
                    caller.connect_ex(("127.0.0.1", port))

    thread = threading.Thread(target=knock)
    thread.start()
    yield been
    ended.set()
    thread.join()


@pytest.mark.timeout(120)
def test_answers_arrive(spark: SparkSession, stranger: set[int]) -> None:
    def doubled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:  # in here: Spark has no tests to import
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pc.multiply(batch.column(0), 2)], ["id"])

    for turn in range(20):
        answer = spark.range(turn, turn + 3, numPartitions=1).mapInArrow(doubled, "id long").collect()
        assert [row["id"] for row in answer] == [2 * turn, 2 * turn + 2, 2 * turn + 4]
    assert stranger, "nobody was called"


def test_only_this_machine_reaches_a_spark_of_its_own(spark: SparkSession) -> None:
    """Driver and block manager ask nobody who he is: with a local master they belong on loopback."""
    pid = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    assert spark.range(3, numPartitions=1).count() == 3
    found = listening(pid)
    assert found, "the driver listens somewhere"
    assert {address for address, _ in found} <= _LOOPBACK
