"""Who writes the tables, and where Spark runs, by what the user says."""

from __future__ import annotations

import pytest

from lapwing.errors import ConfigError
from lapwing.pipeline.jobs.sink_choice import chosen_sink


@pytest.mark.parametrize(
    ("wanted", "master", "submitted", "sink"),
    [
        ("auto", None, False, "delta-rs"),
        ("auto", "local[2]", False, "delta-rs"),
        ("auto", "spark://head:7077", False, "delta-spark"),
        ("auto", "yarn", False, "delta-spark"),
        ("auto", None, True, "delta-spark"),
        ("delta-rs", "spark://head:7077", True, "delta-rs"),
        ("delta-spark", None, False, "delta-spark"),
    ],
)
def test_a_cluster_writes_itself(
    wanted: str, master: str | None, submitted: bool, sink: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    if submitted:
        monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert chosen_sink(wanted, master) == sink


def test_another_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="delta-rs, delta-spark"):
        chosen_sink("postgres", None)
