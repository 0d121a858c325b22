"""Does a folder have one job at a time, counting what a killed job has left running?"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from lapwing.pipeline.errors import FolderError, TableError
from lapwing.pipeline.jobs import folder
from lapwing.pipeline.jobs.folder import JobFolder, check_apart

JOB = """
import signal, subprocess, sys
from pathlib import Path
from lapwing.pipeline.jobs.folder import JobFolder

out = Path(sys.argv[1])
held = JobFolder.held(out, out)
child = subprocess.Popen(["sleep", "600"], pass_fds=[held.fileno()], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
signal.pause()
"""
"""A job whose child has the folder's descriptor, as Spark's JVM has."""


@pytest.fixture
def job(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """It, and its child."""
    with subprocess.Popen([sys.executable, "-c", JOB, str(tmp_path)], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        child = int(started.stdout.readline())
        yield started, child
        started.kill()
    end(child)


def end(child: int) -> None:
    with suppress(ProcessLookupError):  # it has ended
        os.kill(child, signal.SIGKILL)


def test_one_that_is_at_work_is_told_at_once(
    job: tuple[subprocess.Popen[str], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lapwing.pipeline.jobs.folder.time.sleep", pytest.fail)
    with pytest.raises(TableError, match="another job writes here"):
        JobFolder.held(tmp_path, tmp_path)


def test_what_a_killed_one_has_started_is_waited_for(
    job: tuple[subprocess.Popen[str], int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, child = job
    started.kill()
    started.wait()
    waited = threading.Event()

    def ends_meanwhile(_seconds: float) -> None:
        waited.set()
        end(child)

    monkeypatch.setattr("lapwing.pipeline.jobs.folder.time.sleep", ends_meanwhile)
    JobFolder.held(tmp_path, tmp_path).release()
    assert waited.is_set()


def test_maintenance_is_named_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    maintenance = JobFolder.tried(tmp_path, "lapwing pipeline maintain")
    assert maintenance
    looked = []

    def ends_meanwhile(_seconds: float) -> None:
        looked.append(True)
        if len(looked) == 3:
            maintenance.release()

    monkeypatch.setattr("lapwing.pipeline.jobs.folder.time.sleep", ends_meanwhile)
    JobFolder.held(tmp_path, tmp_path).release()
    assert len(looked) == 3
    assert caplog.messages == [
        f"lapwing pipeline maintain is at work in {tmp_path}: the job begins when that has ended"
    ]


def test_maintenance_that_does_not_end_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintenance = JobFolder.tried(tmp_path, "lapwing pipeline migrate")
    assert maintenance
    clock = itertools.count(step=folder._MAINTENANCE_S / 10)
    monkeypatch.setattr("lapwing.pipeline.jobs.folder.time", Mock(monotonic=lambda: next(clock)))
    with pytest.raises(TableError, match=r"lapwing pipeline migrate is at work here .*when that has ended"):
        JobFolder.held(tmp_path, tmp_path)
    maintenance.release()
    JobFolder.held(tmp_path, tmp_path).release()


@pytest.mark.parametrize("place", ["tables", "tables/readings", "tables/readings/x", "elsewhere/../tables", "link"])
def test_a_checkpoint_is_not_among_the_tables(tmp_path: Path, place: str) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "link").symlink_to("tables")
    with pytest.raises(FolderError, match="among the tables"):
        check_apart(tmp_path, tmp_path / place)
    for beside in ("checkpoint", "", "tables-2", "../tables"):
        check_apart(tmp_path, tmp_path / beside)


def test_released_it_is_free_whoever_has_the_descriptor(tmp_path: Path) -> None:
    held = JobFolder.held(tmp_path, tmp_path)
    with subprocess.Popen(["sleep", "600"], pass_fds=[held.fileno()]) as child:
        held.release()
        JobFolder.held(tmp_path, tmp_path).release()
        child.kill()
