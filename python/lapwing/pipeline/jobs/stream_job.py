"""A job over a stream or a Kafka topic: what every one of them does, whatever its tables are.

It looks at the source, holds its folder, starts Spark and the query, and ends it between two batches. Where its tables
stand decides what a batch still has to write; the checkpoint only says where to read on.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lapwing.errors import ConnectError, LapwingError, TimedOutError
from lapwing.pipeline.errors import JobError
from lapwing.pipeline.gateway import SPARK_GONE, end_callbacks
from lapwing.pipeline.jobs.beginning import begun_at, is_fresh
from lapwing.pipeline.jobs.checkpoint_files import checkpoint_settings
from lapwing.pipeline.jobs.conflicts import write_among_others
from lapwing.pipeline.jobs.folder import JobFolder, check_apart
from lapwing.pipeline.jobs.job_tables import Batch, JobTables
from lapwing.pipeline.jobs.patience import Patience
from lapwing.pipeline.jobs.pictures import with_pictures
from lapwing.pipeline.jobs.reach import Oldest
from lapwing.pipeline.jobs.rest import Rest
from lapwing.pipeline.jobs.running_query import RunningQuery
from lapwing.pipeline.session import check_machine, session
from lapwing.pipeline.sinks.delta_spark import delta_settings
from lapwing.pipeline.sinks.doors import link_to
from lapwing.pipeline.sinks.paths import check_folder
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.job_source import News
from lapwing.pipeline.source.open_source import open_source
from lapwing.pipeline.source.spark_jars import Package, jar_settings, require_jar
from lapwing.pipeline.submitted import submitted_settings
from lapwing.pipeline.transforms.parse import observed

Trigger = Literal["available-now"] | float
"""``available-now``: what is there at the start, then stop. A number: a batch every so many seconds."""

Hook = Callable[[str], None]
"""Called with a table's name right after its commit; tests kill the job there."""

_POLL_S = 0.1
_TIDY_EVERY_BATCHES = 200

Progress = TypeVar("Progress", bound=Batch)


class StreamJob(ABC, Generic[Progress]):
    """A running job.

    Args:
        source: ``http://HOST:PORT/v1/streams/NAME``, without a path the stream ``readings``; or
            ``kafka://HOST:PORT[,HOST:PORT]/TOPIC``.
        out: Gets ``tables/NAME`` and the pictures.
        checkpoint: Spark's; None: the job's own under ``out``. Without it a job goes on where its tables stand.
        trigger: See `Trigger`.
        master: Spark's master; None: this machine.
        conf: Spark settings; those that start with ``lapwing.`` are options of the source (``lapwing.on_trimmed``).
        progress: Called after each batch, from another thread.
        committed: For tests; see `Hook`.
    """

    name: ClassVar[str]
    """Of the job, and of its reader at the broker."""
    decode: ClassVar[str] = "none"
    """The source's option."""

    def __init__(
        self,
        source: str,
        out: Path | str,
        *,
        nothing_yet: Any,
        checkpoint: Path | str | None = None,
        trigger: Trigger = 1.0,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: Callable[[Progress], None] | None = None,
        committed: Hook = lambda _: None,
    ) -> None:
        given = dict(conf or {})
        self._options = {k.removeprefix("lapwing."): given.pop(k) for k in list(given) if k.startswith("lapwing.")}
        self._master, self._conf = master, given
        self._take_options(self._options)
        self._source = open_source(source, self._options)
        self._out = Path(out).absolute()  # one that begins with ~ or has a colon is not taken for a URL
        self._checkpoint = (Path(checkpoint) if checkpoint else self._own_checkpoint()).absolute()
        self._trigger = trigger
        self._progress = progress or (lambda _: None)
        self._committed = committed
        self._total = nothing_yet
        self._done: Mapping[int, int] | None = None
        self._changed = threading.Condition()
        self._at_work = threading.Lock()
        self._stopping = threading.Event()
        self._spark: SparkSession | None = None
        self._query: RunningQuery | None = None
        trigger_s = None if trigger == "available-now" else float(trigger)
        self._patience = Patience(self._source.where)
        self._rest = Rest(after_s=self._source.rest_after_s, trigger_s=trigger_s)
        self._tables: JobTables[Progress] | None = None
        self._folder: JobFolder | None = None
        self._begun = self._ended = 0.0

    @abstractmethod
    def _made_tables(self, state: StreamState) -> JobTables[Progress]:
        """The tables under ``self._out / "tables"``."""

    @abstractmethod
    def _draw(self) -> list[Path]:
        """Draws the pictures of the tables; imported late, for it loads a drawing library."""

    def _take_options(self, options: dict[str, str]) -> None:
        """Takes out of ``options`` what is not the source's."""

    def _sink_packages(self) -> tuple[Package, ...]:
        """The jars that the tables need; none with delta-rs."""
        return ()

    def _spark_settings(self) -> dict[str, str]:
        packages = (*self._source.packages, *self._sink_packages())
        given = {**submitted_settings(), **self._conf}
        jars = jar_settings(self._conf, packages) if packages else {}
        delta = delta_settings(given) if self._sink_packages() else {}
        return {**checkpoint_settings(given), **self._conf, **jars, **delta}

    @property
    def _oldest(self) -> Oldest | None:
        """Asks the source for its oldest offsets; None where each offset is a message."""
        return None if self._source.offsets_are_dense else self._ask_oldest

    @property
    def _first(self) -> Oldest | None:
        """The same; None where what was deleted before it was read ends the job."""
        return self._ask_oldest if self._source.skips_trimmed else None

    def _ask_oldest(self) -> dict[int, int]:
        return {partition: held.first_offset for partition, held in self._source.state().partitions.items()}

    @property
    def _is_of_cluster(self) -> bool:
        """Whether executors of other machines, or Delta's own jar, open what is in the folders."""
        master = self._master or submitted_settings().get("spark.master") or "local"
        return not master.startswith("local") or bool(self._sink_packages())

    def _own_checkpoint(self) -> Path:
        return self._out / "checkpoint"

    def start(self) -> Self:
        """Checks what it needs and starts; returns once Spark runs.

        Raises:
            LapwingError: The source, the folders or Spark cannot be used; see `lapwing.errors`.
        """
        for flag, folder in (("--out", self._out), ("--checkpoint", self._checkpoint)):
            check_folder(flag, folder, on_cluster=self._is_of_cluster)
        check_apart(self._out, self._checkpoint)
        check_machine(self._master, self._conf)
        self._source.check()
        self._folder = JobFolder.held(self._out, self._checkpoint)
        try:
            app, log = f"lapwing {self.name}", self._out / "spark.log"
            settings, held = self._spark_settings(), self._folder.fileno()
            spark = session(master=self._master, conf=settings, app=app, log=log, held=held, checked=True)
            for package in self._sink_packages():
                require_jar(spark, package, str(self._out))
            self._spark, state = spark, self._source.opened(spark)
            self._tables = self._made_tables(state)
            self._begun = self._ended = time.monotonic()
            self._start_query(state)
        except Exception as error:
            self._let_go()
            raise self._source.told(error) from None
        return self

    def wait(self, stopped: threading.Event | None = None) -> None:
        """Waits until the query ends (with ``available-now``: all is done), `stop` is called or ``stopped`` is set.

        Raises:
            LapwingError: It failed.
        """
        self._running()
        stopped = stopped or self._stopping
        try:
            while not self._is_over(_POLL_S) and not stopped.is_set() and not self._stopping.is_set():
                if self._rest.is_due:
                    self._pause(stopped)
            self._raise_failure()
        except (LapwingError, PySparkException) as error:
            self._let_go()
            raise self._source.told(error) from None
        except SPARK_GONE:
            self._let_go()
            remedy = "run it again, it goes on where it was; was Spark killed, or did spark-submit get the Ctrl-C?"
            raise JobError("Spark has ended before the job", where=self._source.where, remedy=remedy) from None

    def wait_caught_up(self, timeout_s: float = 300.0) -> None:
        """Waits until everything that the stream holds at this moment is in the tables.

        Raises:
            TimedOutError: It is not, after ``timeout_s``.
            LapwingError: The job failed meanwhile.
        """
        self._running()
        target = {p: held.next_offset for p, held in self._source.state().partitions.items() if held.next_offset}
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while not self._reached(target):
                if self._stopping.is_set() or (not self._rest.is_on and self._is_over()):
                    self._raise_failure()
                    return
                if time.monotonic() > deadline:
                    raise TimedOutError(
                        f"the job has not caught up in {timeout_s:g} s",
                        where=self._source.where,
                        remedy="wait longer, or send less",
                    )
                self._changed.wait(_POLL_S)

    def stop(self) -> None:
        """Lets the batch at hand finish, then stops; no harm if it has stopped already."""
        self._stopping.set()
        with self._at_work:
            pass  # The batch at hand is done, and no other one begins: see `_on_batch`.
        with suppress(*SPARK_GONE):  # then there is no query
            if self._query:
                self._query.stop()
        self._let_go()

    def _is_over(self, timeout_s: float = 0.0) -> bool:
        """Waits at most so long, and says whether the query is over; one that failed on what passes is begun again."""
        query = self._running()
        if not query.wait(timeout_s):
            return False
        with self._at_work:
            if self._query is not query:  # somebody else has begun it again
                return False
            if self._stopping.is_set() or self._rest.is_on or not self._patience.allows(query.failure()):
                return True
            self._start_query(self._source.state())
        return False

    def _start_query(self, state: StreamState) -> None:
        while True:
            try:
                return self._begin_query(state)
            except PySparkException as failure:
                if not self._patience.allows(failure):
                    raise

    def _begin_query(self, state: StreamState) -> None:
        assert self._spark is not None  # `start` comes first
        assert self._tables is not None
        end_callbacks(self._spark)  # of the query before this one
        self._tables.refresh()  # it may have rested for hours, and others have gone on
        fresh = is_fresh(self._checkpoint, self._tables)
        begun = begun_at(self._tables, self._source, state, fresh=fresh)
        rows = self._source.load(self._spark, state, begun, fresh=fresh, reader=self.name, decode=self.decode)
        writer = observed(rows).writeStream.foreachBatch(self._on_batch)
        writer = writer.option("checkpointLocation", str(link_to(self._checkpoint)))
        now = self._trigger == "available-now"
        writer = writer.trigger(availableNow=True) if now else writer.trigger(processingTime=f"{self._trigger} seconds")
        self._query = RunningQuery(writer.start())
        self._rest.end()

    def _pause(self, stopped: threading.Event) -> None:
        """Stops the query until something comes."""
        self._rest.stir()
        news = self._news()
        if news is None:
            return
        with closing(news):
            with self._at_work:
                self._rest.begin()
            self._running().stop()
            self._rest.wait(news, lambda: stopped.is_set() or self._stopping.is_set())
        self._running().failure()  # raises where the JVM has ended
        with self._at_work:  # so that `stop` finds the new query, or there is none
            if not stopped.is_set() and not self._stopping.is_set():
                self._start_query(self._source.state())

    def _news(self) -> News | None:
        """Who waits for what comes; None where there is something to read, or it cannot be known."""
        try:
            ends = {p: held.next_offset for p, held in self._source.state().partitions.items()}
            return self._source.news(ends) if self._reached({p: end for p, end in ends.items() if end}) else None
        except ConnectError:
            return None  # the query meets the same, and says it

    def _result(self, *, draw: bool) -> Any:
        """What the run did. After `stop`, or the end of ``available-now``."""
        rows = self._tables.rows() if self._tables else {}
        done = replace(self._total, rows_in_tables=rows, seconds=self._ended - self._begun)
        return with_pictures(done, self._draw) if draw else done

    def _on_batch(self, rows: DataFrame, batch: int) -> None:
        with self._at_work:
            if self._stopping.is_set() or self._rest.is_on:
                # Returning would tell Spark that the batch is done.
                raise InterruptedError("the query is being stopped")
            assert self._tables is not None  # set before the query starts
            done = write_among_others(self._tables, rows, batch)
        with self._changed:
            self._done, self._ended = done.done, time.monotonic()
            if done.rows:
                self._total = self._total.plus(done)
            self._changed.notify_all()
        self._rest.stir()
        self._patience.renew()
        if done.rows:
            self._progress(done)
            self._tables.tidy(every_batches=_TIDY_EVERY_BATCHES)
        self._committed("batch")

    def _reached(self, target: Mapping[int, int]) -> bool:
        tables = self._tables
        assert tables is not None  # `_running` has checked
        done = tables.begun().start if self._done is None else self._done
        read = self._source.read_up_to(self._running().progress)
        return all(max(done.get(p, 0), read.get(p, 0)) >= offset for p, offset in target.items())

    def _running(self) -> RunningQuery:
        if self._query is None:
            raise LapwingError("the job has not been started", remedy="call start() first")
        return self._query

    def _raise_failure(self) -> None:
        # One that was stopped for a rest may have failed by that: a batch that just began is refused.
        failure = self._query.failure() if self._query and not self._rest.is_on else None
        if failure and not self._stopping.is_set():
            self._let_go()
            raise self._source.told(failure)

    def _let_go(self) -> None:
        """Frees the folder, and what Spark has of a query that is over; no harm if done before."""
        with suppress(*SPARK_GONE):
            if self._spark:
                end_callbacks(self._spark)
        if self._folder:
            self._folder.release()
