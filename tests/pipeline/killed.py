"""Jobs that are killed right after a commit, in this process: what was committed stays, and nothing comes after it.

`test_killed.py` does the same with SIGKILL to processes of their own, where other commits may be under way.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from lapwing.errors import LapwingError
from lapwing.pipeline.jobs import coverage_tables
from lapwing.pipeline.jobs.stream_job import Hook, StreamJob
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.sinks.delta import DeltaSink

EACH = 10
"""What a chain sends before each start, in what the test's own `send` counts."""

Start = Callable[[Hook], StreamJob[Any]]
"""Starts a job that calls the hook."""
Check = Callable[[Path, int], None]
"""Whether a table holds what it must after so many were sent."""


class KilledError(Exception):
    """Stands for the end of the process."""


@contextmanager
def killed_at(point: str) -> Iterator[Hook]:
    """A hook that ends a job at `point`; its tables are written one after the other, and none after the end."""
    ended = threading.Event()

    def committed(name: str) -> None:
        if name == point:
            ended.set()
            raise KilledError(point)

    def until_then(write: Callable[..., int]) -> Callable[..., int]:
        @wraps(write)
        def written(*arguments: Any) -> int:
            if ended.is_set():
                raise KilledError(point)
            return write(*arguments)

        return written

    with ExitStack() as stack:
        stack.enter_context(patch.object(coverage_tables, "_SIDE_BY_SIDE", 1))
        for name in ("append", "merge"):
            stack.enter_context(patch.object(DeltaSink, name, until_then(getattr(DeltaSink, name))))
        yield committed


def until_killed(start: Start, point: str) -> None:
    """Runs a job until it ends at `point`; fails when it does not come to that."""
    with killed_at(point) as committed:
        job = start(committed)
        try:
            with pytest.raises(LapwingError, match=KilledError.__name__):
                job.wait()
        finally:
            job.stop()


def killed_after_each(
    points: Sequence[str],
    start: Start,
    send: Callable[[int, int], None],
    out: Path,
    checks: Mapping[str, Check],
    *,
    keep_checkpoint: bool,
    is_cut_alike: bool = True,
) -> int:
    """Kills a job after the first of its commits, into empty tables; the one that goes on after the second; and so on.

    Before each start `EACH` more are sent. After each end every table has what it must have, or nothing yet.

    Args:
        points: Commits in their order; the last one is ``batch``, before Spark's own.
        start: Of a job with the trigger ``available-now``.
        send: Sends messages, by the number of the first one and how many.
        out: The job's.
        checks: By table.
        keep_checkpoint: Else it is removed after each end.
        is_cut_alike: Whether a batch that was begun ends where it did, also where the checkpoint is gone.

    Returns:
        How many were sent.
    """
    sent = 0
    for at, point in enumerate(points):
        send(sent, EACH)
        sent += EACH
        first_batch = keep_checkpoint or (is_cut_alike and point != "batch")
        with saying(f"killed after {point}, {keep_checkpoint=}"):
            until_killed(start, point)
            check_some(out, checks, points[: at + 1], EACH if first_batch else sent)
        if not keep_checkpoint:
            shutil.rmtree(out / "checkpoint")
    return sent


def check_some(out: Path, checks: Mapping[str, Check], done: Sequence[str], count: int) -> None:
    """Of the tables those that are `done` say what `count` messages make them say, the others nothing."""
    for table, check in checks.items():
        if table in done:
            check(out, count)
        else:
            assert read(out, table).num_rows == 0, table


@contextmanager
def saying(where: str) -> Iterator[None]:
    """What fails within says where it did."""
    try:
        yield
    except BaseException as error:
        error.add_note(where)
        raise
