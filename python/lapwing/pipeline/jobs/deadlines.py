"""The job ``deadlines``: from a stream of misses and dead letters to tables and a picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from lapwing.pipeline.jobs.late_progress import LateProgress, LateResult
from lapwing.pipeline.jobs.late_tables import LateTables
from lapwing.pipeline.jobs.stream_job import Hook, StreamJob, Trigger
from lapwing.pipeline.source.client import StreamState


class DeadlinesJob(StreamJob[LateProgress]):
    """A running job; `run_deadlines` is the short form, `StreamJob` has the arguments.

    Several streams may be added up in one ``out``, one after the other: each has a checkpoint of its own.
    """

    name = "deadlines"

    def __init__(
        self,
        source: str,
        out: Path | str,
        *,
        checkpoint: Path | str | None = None,
        trigger: Trigger = 1.0,
        master: str | None = None,
        conf: Mapping[str, str] | None = None,
        progress: Callable[[LateProgress], None] | None = None,
        committed: Hook = lambda _: None,
    ) -> None:
        super().__init__(
            source,
            out,
            nothing_yet=LateResult(),
            checkpoint=checkpoint,
            trigger=trigger,
            master=master,
            conf=conf,
            progress=progress,
            committed=committed,
        )

    def result(self, *, draw: bool = True) -> LateResult:
        """What the run did; draws the picture unless told not to. After `stop`, or the end of ``available-now``."""
        done: LateResult = self._result(draw=draw)
        return done

    def _own_checkpoint(self) -> Path:
        return self._out / "checkpoint" / self._source.name

    def _made_tables(self, state: StreamState) -> LateTables:
        return LateTables(
            self._out / "tables",
            state.uuid,
            list(state.partitions),
            oldest=self._oldest,
            committed=self._committed,
        )

    def _draw(self) -> list[Path]:
        from lapwing.pipeline.report.deadlines_picture import draw_deadlines

        return [draw_deadlines(self._out)]


def run_deadlines(
    source: str,
    out: Path | str,
    *,
    checkpoint: Path | str | None = None,
    trigger: Trigger = "available-now",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    progress: Callable[[LateProgress], None] | None = None,
    until: Callable[[DeadlinesJob], None] | None = None,
    draw: bool = True,
) -> LateResult:
    """Runs the job to its end.

    Args:
        source: The stream.
        out: The output folder.
        checkpoint: Spark's checkpoint; None: ``out/checkpoint/STREAM``.
        trigger: ``available-now``, or seconds between batches: then it ends by Ctrl-C, SIGTERM or ``until``.
        master: Spark's master.
        conf: Settings.
        progress: Called after each batch.
        until: Waits, in place of `StreamJob.wait`, for what ends the job.
        draw: Whether to draw the picture at the end.

    Raises:
        LapwingError: It cannot run, or failed; see `lapwing.errors`.
    """
    job = DeadlinesJob(
        source, out, checkpoint=checkpoint, trigger=trigger, master=master, conf=conf, progress=progress
    ).start()
    try:
        (until or DeadlinesJob.wait)(job)
    finally:
        job.stop()
    return job.result(draw=draw)
