"""Who writes the tables, and where Spark runs, by what the user says."""

from __future__ import annotations

import pytest

from lapwing.errors import ConfigError
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
