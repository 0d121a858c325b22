"""Who writes the tables, and where Spark runs, by what the user says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lapwing.errors import ConfigError
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.sink_choice import chosen_sink


@pytest.mark.parametrize(
    ("wanted", "master", "sink"),
    [
        ("auto", None, "delta-rs"),
        ("auto", "local[2]", "delta-rs"),
        ("auto", "spark://head:7077", "delta-spark"),
        ("auto", "yarn", "delta-spark"),
        ("delta-rs", "spark://head:7077", "delta-rs"),
        ("delta-spark", None, "delta-spark"),
    ],
)
def test_a_cluster_writes_itself(wanted: str, master: str | None, sink: str) -> None:
    assert chosen_sink(wanted, master) == sink


def test_another_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="delta-rs, delta-spark"):
        chosen_sink("postgres", None)


@pytest.mark.parametrize("conf", [{}, {"lapwing.sink": "auto"}, {"lapwing.sink": "delta-rs"}])
def test_the_controller_writes_with_delta_rs_on_a_cluster_too(conf: dict[str, str], tmp_path: Path) -> None:
    job = controller(tmp_path, conf)
    assert (job._sink, job._sink_packages()) == ("delta-rs", ())


@pytest.mark.parametrize(
    ("wanted", "told"), [("delta-spark", "the controller writes with delta-rs"), ("postgres", "'postgres' cannot be")]
)
def test_the_controller_refuses_another_one(wanted: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=told):
        controller(tmp_path, {"lapwing.sink": wanted})


def controller(out: Path, conf: dict[str, str]) -> ControllerJob:
    nobody: Any = None  # wires are used from the start on
    return ControllerJob("http://127.0.0.1:1", out, wires=nobody, master="spark://head:7077", conf=conf)
