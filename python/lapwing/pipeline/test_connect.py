"""Is a shell that others have set up for Spark Connect left alone, or named?"""

from __future__ import annotations

import logging
import os

import pytest

from lapwing.pipeline.connect import connect_variables, leave_connect
from lapwing.pipeline.errors import SparkUnusableError

SECRET = "sc://spark.example:15002/;token=s3cret"
VARIABLES = {
    "SPARK_REMOTE": SECRET,
    "SPARK_API_MODE": "Connect",
    "SPARK_CONNECT_MODE": "1",
    "SPARK_CONNECT_MODE_ENABLED": "",
}


@pytest.fixture(params=VARIABLES)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(request.param, VARIABLES[request.param])
    return str(request.param)


def test_with_a_local_master_it_is_left_out_and_said(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "lapwing.pipeline"):
        leave_connect({}, local=True)
    assert name not in os.environ
    assert name in caplog.text
    assert "s3cret" not in caplog.text


def test_with_another_master_it_is_named_before_anything_starts(name: str) -> None:
    with pytest.raises(SparkUnusableError, match=f"{name} asks for Spark Connect") as caught:
        leave_connect({}, local=False)
    assert f"unset {name}" in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("conf", [{"spark.remote": SECRET}, {"spark.api.mode": "CONNECT"}])
def test_a_setting_that_asks_for_it_is_named(conf: dict[str, str]) -> None:
    with pytest.raises(SparkUnusableError, match=f"{next(iter(conf))} asks for Spark Connect") as caught:
        leave_connect(conf, local=True)
    assert "s3cret" not in str(caught.value)


def test_what_asks_for_no_spark_connect_stays() -> None:
    assert not connect_variables({"SPARK_API_MODE": "classic", "SPARK_CONNECT_MODE": "0", "SPARK_HOME": "/opt/spark"})
    leave_connect({"spark.api.mode": "classic"}, local=True)
