"""The job ``coverage``: from a stream or a Kafka topic to tables, pictures and a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from lapwing.errors import ConfigError
from lapwing.pipeline.jobs.cluster_tables import ClusterTables
from lapwing.pipeline.jobs.coverage_tables import CoverageTables
from lapwing.pipeline.jobs.progress import NOTHING_YET, BatchProgress, JobResult, ProgressCallback
from lapwing.pipeline.jobs.sink_choice import AUTO, DELTA_SPARK, chosen_sink
from lapwing.pipeline.jobs.stream_job import Hook, StreamJob, Trigger
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.spark_jars import DELTA, Package
from lapwing.pipeline.submitted import submitted_settings
from lapwing.pipeline.transforms.coverage import SERVED_DBM


class CoverageJob(StreamJob[BatchProgress]):
    """A running job; `run_coverage` is the short form, `StreamJob` has the arguments.

    ``lapwing.served_dbm`` in ``conf`` is the RSRP from which on a place counts as served; ``lapwing.sink`` who writes
    the tables, see `lapwing.pipeline.jobs.sink_choice`.
    """

    name = "coverage"
    decode = "reading"

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
        super().__init__(
            source,
            out,
            nothing_yet=NOTHING_YET,
            checkpoint=checkpoint,
            trigger=trigger,
            master=master,
            conf=conf,
            progress=progress,
            committed=committed,
        )

    def result(self, *, draw: bool = True) -> JobResult:
        """What the run did; draws the pictures unless told not to. After `stop`, or the end of ``available-now``."""
        done: JobResult = self._result(draw=draw)
        return done

    def _take_options(self, options: dict[str, str]) -> None:
        self._served_dbm = _dbm(options.pop("served_dbm", str(SERVED_DBM)))
        self._sink = chosen_sink(options.pop("sink", AUTO), self._master or submitted_settings().get("spark.master"))

    def _sink_packages(self) -> tuple[Package, ...]:
        return (DELTA,) if self._sink == DELTA_SPARK else ()

    def _made_tables(self, state: StreamState) -> CoverageTables:
        kind = ClusterTables if self._sink == DELTA_SPARK else CoverageTables
        return kind(
            self._out / "tables",
            state.uuid,
            list(state.partitions),
            served_dbm=self._served_dbm,
            oldest=self._oldest,
            first=self._first,
            committed=self._committed,
        )

    def _draw(self) -> list[Path]:
        return draw_pictures(self._out)


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


def _dbm(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(
            f"served_dbm = {text!r}", where="--conf", remedy=f"give a whole number of dBm, as {SERVED_DBM}"
        ) from None


def draw_pictures(out: Path) -> list[Path]:
    """Draws pictures and report from the tables in ``out``; imported late, for it loads a drawing library."""
    from lapwing.pipeline.report import draw

    return list(draw(out))
