"""The job ``coverage``: from a broker's stream to tables, pictures and a report."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from lapwing.errors import LapwingError, TimedOutError
from lapwing.pipeline.errors import TableError, unsealed
from lapwing.pipeline.jobs.coverage_tables import CoverageTables, Hook
from lapwing.pipeline.jobs.folder import JobFolder
from lapwing.pipeline.jobs.progress import NOTHING_YET, JobResult, ProgressCallback
from lapwing.pipeline.session import session
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.options import SourceOptions
from lapwing.pipeline.transforms.coverage import SERVED_DBM
from lapwing.pipeline.transforms.parse import observed

Trigger = Literal["available-now"] | float
"""``available-now``: what is there at the start, then stop. A number: a batch every so many seconds."""

_POLL_S = 0.1
_TIDY_EVERY_BATCHES = 200


class CoverageJob:
    """A running job; `run_coverage` is the short form.

    Args:
        source: ``http://HOST:PORT/v1/streams/NAME``; without a path the stream ``readings``.
        out: Gets ``tables/NAME``, the pictures and ``report.html``.
        checkpoint: Spark's; None: ``out/checkpoint``. Without it a job goes on where its tables stand.
        trigger: See `Trigger`.
        master: Spark's master; None: this machine.
        conf: Spark settings; those that start with ``lapwing.`` are options of the source (``lapwing.on_trimmed``),
            or ``lapwing.served_dbm``.
        progress: Called after each batch, from another thread.
        committed: For tests; see `lapwing.pipeline.jobs.coverage_tables.Hook`.
    """

    def __init__(
        self,
        source: str,
        out: Path | str,
        *,
        checkpoint: Path | str | None = None,
        trigger: Trigger = 1.0,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: ProgressCallback | None = None,
        committed: Hook = lambda _: None,
    ) -> None:
        given = dict(conf or {})
        self._options = {k.removeprefix("lapwing."): given.pop(k) for k in list(given) if k.startswith("lapwing.")}
        self._served_dbm = int(self._options.pop("served_dbm", SERVED_DBM))
        self._address = StreamAddress.parse(source)
        self._source = SourceOptions.parse({**self._options, "url": str(self._address)})
        self._out = Path(out)
        self._checkpoint = Path(checkpoint) if checkpoint else self._out / "checkpoint"
        self._trigger = trigger
        self._master, self._conf = master, given
        self._progress = progress or (lambda _: None)
        self._committed = committed
        self._total = NOTHING_YET
        self._done: Mapping[int, int] | None = None
        self._changed = threading.Condition()
        self._at_work = threading.Lock()
        self._stopping = threading.Event()
        self._query: StreamingQuery | None = None
        self._tables: CoverageTables | None = None
        self._folder: JobFolder | None = None
        self._begun = self._ended = 0.0

    def start(self) -> CoverageJob:
        """Checks what it needs and starts; returns once Spark runs.

        Raises:
            LapwingError: The source, the folders or Spark cannot be used; see `lapwing.errors`.
        """
        state = self._look()
        self._folder = JobFolder.held(self._out, self._checkpoint)
        try:
            spark = session(master=self._master, conf=self._conf, app="lapwing coverage", log=self._out / "spark.log")
            self._tables = CoverageTables(
                self._out / "tables",
                state.uuid,
                list(state.partitions),
                served_dbm=self._served_dbm,
                committed=self._committed,
            )
            options = {"reader": "coverage", **self._options, **self._resumed(self._tables)}
            rows = spark.readStream.format("lapwing").options(url=str(self._address), decode="reading", **options)
            writer = observed(rows.load()).writeStream.foreachBatch(self._on_batch)
            writer = writer.option("checkpointLocation", str(self._checkpoint))
            self._begun = self._ended = time.monotonic()
            if self._trigger == "available-now":
                self._query = writer.trigger(availableNow=True).start()
            else:
                self._query = writer.trigger(processingTime=f"{float(self._trigger)} seconds").start()
        except Exception as error:
            self._folder.release()
            raise unsealed(error, where=str(self._address)) from None
        return self

    def wait(self, stopped: threading.Event | None = None) -> None:
        """Waits until the query ends (with ``available-now``: all is done), `stop` is called or ``stopped`` is set.

        Raises:
            LapwingError: It failed.
        """
        query = self._running()
        stopped = stopped or self._stopping
        while query.isActive and not stopped.wait(_POLL_S) and not self._stopping.is_set():
            pass
        self._raise_failure()

    def wait_caught_up(self, timeout_s: float = 300.0) -> None:
        """Waits until everything that the stream holds at this moment is in the tables.

        Raises:
            TimedOutError: It is not, after ``timeout_s``.
            LapwingError: The job failed meanwhile.
        """
        query = self._running()
        target = {p: held.next_offset for p, held in self._look().partitions.items() if held.next_offset}
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not self._reached(target):
                if not query.isActive:
                    self._raise_failure()
                    return
                if time.monotonic() > deadline:
                    raise TimedOutError(
                        f"the job has not caught up in {timeout_s:g} s",
                        where=str(self._address),
                        remedy="wait longer, or send less",
                    )
                self._changed.wait(_POLL_S)

    def stop(self) -> None:
        """Lets the batch at hand finish, then stops; no harm if it has stopped already."""
        self._stopping.set()
        with self._at_work:
            pass  # The batch at hand is done, and no other one begins: see `_on_batch`.
        if self._query:
            self._query.stop()
        if self._folder:
            self._folder.release()

    def result(self, *, draw: bool = True) -> JobResult:
        """What the run did; draws the pictures unless told not to. After `stop`, or the end of ``available-now``."""
        rows = self._tables.rows() if self._tables else {}
        done = replace(self._total, rows_in_tables=rows, seconds=self._ended - self._begun)
        if not draw:
            return done
        begun = time.monotonic()
        pictures = draw_pictures(self._out)
        phases = {**done.seconds_by_phase, "draw": time.monotonic() - begun}
        return replace(done, pictures=tuple(pictures), seconds_by_phase=phases)

    def _look(self) -> StreamState:
        with self._source.client() as client:
            return client.state()

    def _resumed(self, tables: CoverageTables) -> dict[str, str]:
        """Without a checkpoint the tables say where to go on, and which batch was begun."""
        if any((self._checkpoint / "commits").glob("[0-9]*")):
            if tables.untouched():
                raise TableError(
                    "the checkpoint is ahead of the tables, which have just been made",
                    where=str(self._checkpoint),
                    remedy="remove the checkpoint as well, or bring the tables back",
                )
            return {}
        begun = tables.begun()
        start = {str(p): offset for p, offset in begun.start.items() if offset}
        until = {str(p): offset for p, offset in begun.until.items() if offset > begun.start.get(p, 0)}
        return {
            **({"start": json.dumps(start)} if start else {}),
            **({"until": json.dumps(until)} if until else {}),
        }

    def _on_batch(self, rows: DataFrame, batch: int) -> None:
        with self._at_work:
            if self._stopping.is_set():
                # Returning would tell Spark that the batch is done.
                raise InterruptedError("the job is being stopped")
            assert self._tables is not None  # set before the query starts
            done = self._tables.write(rows, batch)
        with self._changed:
            self._done, self._ended = done.done, time.monotonic()
            if done.rows:
                self._total = self._total.plus(done)
            self._changed.notify_all()
        if done.rows:
            self._progress(done)
            self._tables.tidy(every_batches=_TIDY_EVERY_BATCHES)
        self._committed("batch")

    def _reached(self, target: Mapping[int, int]) -> bool:
        tables = self._tables
        assert tables is not None  # `_running` has checked
        done = tables.begun().start if self._done is None else self._done
        return all(done.get(partition, 0) >= offset for partition, offset in target.items())

    def _running(self) -> StreamingQuery:
        if self._query is None:
            raise LapwingError("the job has not been started", remedy="call start() first")
        return self._query

    def _raise_failure(self) -> None:
        failure = self._query.exception() if self._query else None
        if failure and not self._stopping.is_set():
            if self._folder:
                self._folder.release()
            raise unsealed(failure, where=str(self._address))


def run_coverage(
    source: str,
    out: Path | str,
    *,
    checkpoint: Path | str | None = None,
    trigger: Trigger = "available-now",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    progress: ProgressCallback | None = None,
    until: Callable[[CoverageJob], None] | None = None,
    draw: bool = True,
) -> JobResult:
    """Runs the job to its end; see `CoverageJob` for the arguments.

    Args:
        source: The stream.
        out: The output folder.
        checkpoint: Spark's checkpoint.
        trigger: ``available-now``, or seconds between batches: then it ends by Ctrl-C, SIGTERM or ``until``.
        master: Spark's master.
        conf: Settings.
        progress: Called after each batch.
        until: Waits, in place of `CoverageJob.wait`, for what ends the job.
        draw: Whether to draw pictures and report at the end.

    Raises:
        LapwingError: It cannot run, or failed; see `lapwing.errors`.
    """
    job = CoverageJob(
        source, out, checkpoint=checkpoint, trigger=trigger, master=master, conf=conf, progress=progress
    ).start()
    try:
        (until or CoverageJob.wait)(job)
    finally:
        job.stop()
    return job.result(draw=draw)


def draw_pictures(out: Path) -> list[Path]:
    """Draws pictures and report from the tables in ``out``; imported late, for it loads a drawing library."""
    from lapwing.pipeline.report import draw

    return list(draw(out))
