"""Who reaches whom with the options of `lapwing pipeline run`: the source, the controller's broker, or nobody?"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from lapwing.cli.app import app, run
from lapwing.cli.pipeline import _check_files, _files_of, _of_source, _trigger
from lapwing.errors import ConfigError
from lapwing.https import TlsFiles
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.jobs.late_progress import LateProgress, LateResult
from lapwing.pipeline.jobs.progress import NOTHING_YET
from lapwing.pipeline.source.open_source import open_source
from lapwing.pipeline.test_maintain import add

WHO = {"user": "ann", "password_file": "secret", "ca": "ca.pem"}
KAFKA, BROKER = "kafka://127.0.0.1:9092/readings", "https://127.0.0.1:8443"


def test_a_broker_as_a_source_is_told_who_asks() -> None:
    assert _of_source("coverage", BROKER, WHO) == {f"lapwing.{name}": value for name, value in WHO.items()}


def test_kafka_is_told_nothing_and_says_so() -> None:
    assert _of_source("controller", KAFKA, WHO) == {}
    assert _of_source("coverage", KAFKA, {"ca": "ca.pem"}) == {}  # LAPWING_CA, which other commands want
    with pytest.raises(ConfigError, match="--user says who asks a broker") as told:
        _of_source("coverage", KAFKA, WHO)
    assert "client_config" in str(told.value)


def test_files_for_tls_go_where_there_is_tls() -> None:
    tls = TlsFiles("ca.pem", "c.pem")
    assert _files_of(BROKER, tls) == {"ca": "ca.pem", "certificate": "c.pem", "key": ""}
    assert _files_of("http://h:1", tls) == {}, "LAPWING_CA, which other commands want"
    own = {"--ca": None, "--cert": "c.pem", "--key": None}
    _check_files("controller", "http://h:1", "tls://h:1", own)
    _check_files("coverage", BROKER, "tcp://h:1", own)
    for job, broker in (("coverage", "tls://h:1"), ("controller", "tcp://h:1")):
        with pytest.raises(ConfigError, match="--cert is for TLS"):
            _check_files(job, "http://h:1", broker, own)
    with pytest.raises(ConfigError, match="--cert says who asks a broker"):
        _of_source("coverage", KAFKA, {"certificate": "c.pem"})


@pytest.mark.parametrize("text", ["1_0", "1e300", "-1", "nan", "inf", "\u0665", " 5", "5s", "0.0001", ""])
def test_an_odd_trigger_is_named(text: str) -> None:
    with pytest.raises(ConfigError, match="--trigger"):
        _trigger(text)


def test_a_trigger_is_a_number_of_seconds() -> None:
    assert [_trigger(text) for text in ("0", "5", "0.25", "available-now")] == [0.0, 5.0, 0.25, "available-now"]


def test_a_wrong_threshold_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="served_dbm = 'low'"):
        CoverageJob(BROKER, tmp_path, conf={"lapwing.served_dbm": "low"})


def test_a_controller_over_kafka_logs_in_to_its_broker(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hush\n")
    given: dict[str, Any] = {}

    def ran(source: str, out: Path, **arguments: Any) -> Any:
        open_source(source, {name.removeprefix("lapwing."): value for name, value in arguments["conf"].items()})
        given.update(arguments)
        return NOTHING_YET

    words = ["pipeline", "run", "controller", "--source", KAFKA, "--out", str(tmp_path), "--broker", "tls://b:8883"]
    with patch("lapwing.controller.run.run_controller_over_mqtt", ran):
        ended = CliRunner().invoke(app, [*words, "--user", "ann", "--password-file", str(secret), "--ca", "ca.pem"])
    assert ended.exit_code == 0, ended.output
    assert (given["broker"], given["tls"].ca) == ("tls://b:8883", "ca.pem")
    assert given["credentials"].login() == ("ann", "hush")


def test_deadlines_tells_a_batch_and_its_result_as_json(tmp_path: Path) -> None:
    """One object each; the job itself is another test's."""
    batch = LateProgress(0, 28, 20, 4, 4, 0, 0, 1.5, {"digest": 1.0}, {"misses": 20}, {0: 14, 1: 14})

    def ran(_source: str, out: Path, *, progress: Any, **_: Any) -> LateResult:
        progress(batch)
        return replace(LateResult().plus(batch), pictures=(out / "deadlines.png",))

    words = ["pipeline", "run", "deadlines", "--source", BROKER, "--out", str(tmp_path), "--json"]
    with patch("lapwing.pipeline.jobs.deadlines.run_deadlines", ran):
        ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    told, result = (json.loads(line) for line in ended.stdout.splitlines())
    assert (told["misses"], told["done"]) == (20, {"0": 14, "1": 14})
    assert (result["batches"], result["dead_letters"]) == (1, 4)
    assert result["pictures"] == [str(tmp_path / "deadlines.png")]


def test_maintenance_tells_what_it_did(tmp_path: Path) -> None:
    for device in "ab":
        add(tmp_path, "readings", device=device)
    told = CliRunner().invoke(app, ["pipeline", "maintain", "--out", str(tmp_path), "--forget", "a"])
    assert (told.exit_code, told.stdout.splitlines()[1].split()) == (0, ["readings", "1", "2", "1"])
    told = CliRunner().invoke(app, ["pipeline", "migrate", "--out", str(tmp_path)])
    assert (told.exit_code, told.stdout) == (0, "readings: nothing to do\n")


def test_a_broken_table_ends_no_maintenance(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It is said each time, the others and the next time go on, and the exit code tells at the end."""
    add(tmp_path, "readings", device="a")
    add(tmp_path, "quality", device="a")
    log = tmp_path / "tables" / "quality" / "_delta_log"
    (log / "00000000000000000001.json").write_text("no JSON")
    rounds = iter([False, False, True])
    stopped = nullcontext(SimpleNamespace(wait=lambda _s: next(rounds)))
    with patch("lapwing.cli.pipeline._interrupts", lambda: stopped):
        code = run(["pipeline", "maintain", "--out", str(tmp_path), "--every", "60", "--json"])
    said, errors = capfd.readouterr()
    assert code == 1
    assert [json.loads(line)["table"] for line in said.splitlines()] == ["readings"] * 3
    assert errors.count("table quality cannot be used") == 3


def test_a_folder_that_goes_between_two_rounds_ends_no_schedule(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    add(tmp_path / "out", "quality", device="a")

    there, away = tmp_path / "out", tmp_path / "away"
    between = iter([lambda: there.rename(away), lambda: away.rename(there)])
    stopped = nullcontext(SimpleNamespace(wait=lambda _s: next(between, lambda: None)() is None))
    with patch("lapwing.cli.pipeline._interrupts", lambda: stopped):
        code = run(["pipeline", "maintain", "--out", str(tmp_path / "out"), "--every", "60", "--json"])
    said, errors = capfd.readouterr()
    assert (code, said.count('"quality"'), errors.count("there are no tables")) == (1, 2, 1)
