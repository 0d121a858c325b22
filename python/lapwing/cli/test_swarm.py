"""``lapwing swarm`` against its own sink."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from rich.console import Console

from lapwing import _core
from lapwing.cli import swarm_workers
from lapwing.cli.app import run
from lapwing.cli.swarm_report import is_clean, print_report


@pytest.fixture
def sink() -> Iterator[_core.Sink]:
    """A sink that echoes."""
    sink = _core.Sink(echo=True)
    yield sink
    sink.stop()


FAST = ["--seconds", "0.3", "--no-spin", "--rate", "1000"]


def test_a_report_as_json(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    options = [*FAST, "--publishers", "3", "--loopback", "--json", "--strict"]
    assert run(["swarm", "p2p", "--url", sink.url(), *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["sent"], report["delivered"], report["lost"]) == (300, 300, 0)
    assert report["latency_us"]["p50"] > 0
    assert is_clean(report)


def test_a_report_for_people(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["swarm", "devices", "--url", sink.url(), "--publishers", "3", "--qos", "1", *FAST]) == 0
    shown = capsys.readouterr().out
    assert "acknowledged" in shown
    assert "broker's answer" in shown


def test_loss_is_shown_and_strict_fails(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    # Without --loopback the echo goes to the publisher, and the subscribers hear nothing.
    options = [*FAST, "--publishers", "2", "--drain", "2", "--json"]
    assert run(["swarm", "p2p", "--url", sink.url(), *options]) == 0
    assert run(["swarm", "p2p", "--url", sink.url(), *options, "--strict"]) == 1
    report = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (report["lost"], report["foreign"]) == (300, 300)


def test_several_processes_make_one_report(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    options = [*FAST, "--publishers", "5", "--qos", "1", "--processes", "2", "--json", "--strict"]
    assert run(["swarm", "devices", "--url", sink.url(), *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["sent"], report["acknowledged"], report["clients"]) == (300, 300, 5)
    assert (report["processes"], json.loads(sink.figures_json())["connections"]) == (2, 5)


def test_nobody_there_is_exit_code_3(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    url = sink.url()
    sink.stop()
    for processes in ("1", "2"):
        assert run(["swarm", "p2p", "--url", url, "--publishers", "2", "--processes", processes]) == 3
        assert url in capsys.readouterr().err


def test_a_wrong_setting_is_exit_code_2(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["swarm", "fan-out", "--url", sink.url(), "--loopback"]) == 2
    assert "loopback" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--window", "--keep-alive"])
def test_what_has_sixteen_bits_names_its_option(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["swarm", "p2p", option, "70000"]) == 2
    told = capsys.readouterr().err
    assert option in told
    assert "65535" in told


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--processes", "1000000"], "processes = 1000000: at most one per client"),
        (["--processes", "2", "--qos", "1", "--rate", "0.04"], "seconds = 10: more: at this rate no message is due"),
    ],
)
def test_settings_are_checked_before_any_process_is_started(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swarm_workers, "Workers", None)
    assert run(["swarm", "p2p", *options]) == 2
    assert told in capsys.readouterr().err


def test_too_many_clients_are_told_how_many_processes_do(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["swarm", "devices", "--url", sink.url(), "--publishers", "9000000"]) == 2
    assert "--processes" in capsys.readouterr().err


def test_a_sink_says_what_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["swarm", "sink", "--seconds", "0.01", "--json"]) == 0
    url, figures = map(json.loads, capsys.readouterr().out.splitlines())
    assert url["url"].startswith("tcp://127.0.0.1:")
    assert figures["publishes"] == 0


def test_what_the_broker_never_answered_stands_out(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    run(["swarm", "devices", "--url", sink.url(), "--publishers", "1", "--qos", "1", *FAST, "--json"])
    report = json.loads(capsys.readouterr().out)
    assert is_clean(report)
    report["unacknowledged"] = 300
    assert not is_clean(report)
    console = Console(record=True, width=120)
    print_report(report, console)
    assert "unacknowledged" in console.export_text()


def test_what_went_wrong_stands_out(sink: _core.Sink, capsys: pytest.CaptureFixture[str]) -> None:
    run(["swarm", "devices", "--url", sink.url(), "--publishers", "1", *FAST, "--json"])
    report = json.loads(capsys.readouterr().out)
    report |= {"errors": {"connection lost: reset": 3}, "expected": 10, "lost": 7}
    report["profile"]["url"] = "tcp://[fd00::1]:1883"  # for rich, what stands in brackets is a style
    assert not is_clean(report)
    console = Console(record=True, width=120)
    print_report(report, console)
    told = console.export_text()
    assert "3 x connection lost: reset" in told
    assert "tcp://[fd00::1]:1883: 1 clients" in told
