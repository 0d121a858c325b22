"""A job's checkpoint costs no processes."""

from pathlib import Path
from typing import Any

import pytest

from lapwing.pipeline.jobs import stream_job
from lapwing.pipeline.jobs.checkpoint_files import MANAGER
from lapwing.pipeline.jobs.coverage import CoverageJob


def job(out: Path, conf: dict[str, str] | None = None) -> Any:
    return CoverageJob("http://127.0.0.1:1/v1/streams/readings", out, conf=conf)


def test_files_are_renamed_without_a_process(tmp_path: Path) -> None:
    assert job(tmp_path)._spark_settings()[MANAGER].endswith(".FileSystemBasedCheckpointFileManager")


def test_who_says_how_is_heard(tmp_path: Path) -> None:
    assert job(tmp_path, {MANAGER: "org.example.Own"})._spark_settings()[MANAGER] == "org.example.Own"


def test_spark_submit_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_job, "submitted_settings", lambda: {MANAGER: "org.example.Own"})
    assert MANAGER not in job(tmp_path)._spark_settings()
