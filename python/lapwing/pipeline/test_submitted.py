"""Under spark-submit, and without: whose settings count?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from pyspark import SparkContext

from lapwing.pipeline.errors import SparkUnusableError
from lapwing.pipeline.session import _defaults, _settings, check_machine
from lapwing.pipeline.sinks.delta_spark import DELTA_SETTINGS, delta_settings
from lapwing.pipeline.submitted import submitted_settings

EXTENSIONS = "spark.sql.extensions"
ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """What spark-submit has been told."""
    told = {"spark.app.name": "nightly", "spark.sql.shuffle.partitions": "64", "spark.master": "spark://head:7077"}
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.setattr(SparkContext, "_ensure_initialized", lambda: None)
    with patch("pyspark.SparkConf") as conf:
        conf.return_value.getAll.return_value = told.items()
        yield told


def test_nothing_was_submitted_where_we_start_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert submitted_settings() == {}
    ours = _defaults("lapwing coverage", {})
    assert (ours["spark.app.name"], ours["spark.driver.memory"]) == ("lapwing coverage", "3g")


def test_what_was_submitted_counts_before_ours(submitted: dict[str, str]) -> None:
    assert submitted_settings() == submitted
    left = _defaults("lapwing coverage", submitted_settings())
    assert not {"spark.app.name", "spark.sql.shuffle.partitions", "spark.driver.memory", "spark.ui.enabled"} & set(left)


def test_the_time_zone_is_utc_whatever_was_submitted(submitted: dict[str, str]) -> None:
    """By it a cluster lays readings into folders by day: those of the evening before would go a day early."""
    submitted[ZONE] = "America/Los_Angeles"
    assert _settings("lapwing coverage", submitted_settings(), {})[ZONE] == "UTC"


def test_another_time_zone_that_is_asked_for_is_refused() -> None:
    with pytest.raises(SparkUnusableError, match=r"timeZone = Europe/Dublin: .*UTC.*leave it out"):
        check_machine(None, {ZONE: "Europe/Dublin"})
    check_machine(None, {ZONE: "UTC"})


def test_the_script_is_not_the_job_s_name(submitted: dict[str, str]) -> None:
    submitted["spark.app.name"] = Path(sys.argv[0]).name
    assert _defaults("lapwing coverage", submitted_settings())["spark.app.name"] == "lapwing coverage"


def test_delta_stands_beside_other_extensions() -> None:
    delta = DELTA_SETTINGS[EXTENSIONS]
    assert delta_settings({}) == DELTA_SETTINGS
    assert delta_settings({EXTENSIONS: "org.example.Mine"})[EXTENSIONS] == f"org.example.Mine,{delta}"
    assert EXTENSIONS not in delta_settings({EXTENSIONS: f"{delta},org.example.Mine"})
    assert "spark.databricks.delta.snapshotPartitions" not in delta_settings(
        {"spark.databricks.delta.snapshotPartitions": "8"}
    )
