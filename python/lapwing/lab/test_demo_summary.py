"""The figures at a demo's end: complete, and honest about what is missing."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from lapwing.lab.demo_screen import Screen
from lapwing.lab.demo_summary import Summary, summarise
from lapwing.lab.malformed_rows import Malformed, MalformedRows
from lapwing.lab.trace_repairs import Repair, Repairs
from lapwing.pipeline.report.conftest import write_tables
from lapwing.pipeline.report.draw import gather_facts


def summary_of(out: Path, *, acknowledged: int, trouble: bool = False) -> Summary:
    write_tables(out, devices=4, minutes=1, readings=200, trouble=trouble)
    fleet = {"acknowledged": acknowledged, "complete": True}
    malformed = MalformedRows(kept_max=1)
    malformed.add(Malformed("a.csv", 4, "RSRP 'x' is not a number"))
    malformed.add(Malformed("a.csv", 9, "RSRP 'y' is not a number"))
    repairs = Repairs()
    repairs.add("a.csv:5", [Repair("rounded", "RSRP '-97.5'")])
    return summarise({"seed": 7, "devices": 4}, fleet, gather_facts(out), {"total": 1.23456}, malformed, repairs)


def test_whole_means_everything_sent_is_there_once(tmp_path: Path) -> None:
    assert summary_of(tmp_path / "a", acknowledged=200).whole
    assert not summary_of(tmp_path / "b", acknowledged=201).whole
    assert not summary_of(tmp_path / "c", acknowledged=201, trouble=True).whole


def test_the_file_says_everything(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, acknowledged=203, trouble=True)
    summary.write(tmp_path / "summary.json")
    told = json.loads((tmp_path / "summary.json").read_text())
    assert told["seed"] == 7
    assert told["missing"] == 203 - told["rows"]["readings"] - told["rows"]["quarantine"] == 2
    assert told["lost"] > 0
    assert told["repeated"] == 4
    assert set(told["latency_us"]["sent->ingress"]) == {"p50", "p95", "p99", "p99.9"}
    assert told["versions"]["pyspark"] == "4.2.0"
    assert told["malformed"] == ["a.csv:4: RSRP 'x' is not a number"]
    assert told["malformed_rows"] == {"a.csv": 2}
    assert told["repaired"]["rounded"]["first"] == "a.csv:5: RSRP '-97.5'"
    assert told["seconds"] == {"total": 1.235}


@pytest.mark.parametrize("terminal", [True, False])
def test_the_screen_shows_phases_figures_and_where_to_look(tmp_path: Path, terminal: bool) -> None:
    summary = summary_of(tmp_path, acknowledged=201)
    text = io.StringIO()
    with Screen(Console(file=text, force_terminal=terminal, width=100)) as screen:
        with screen.phase("send", "sending", 5) as bar:
            bar.at(3)
        repairs = Repairs()
        repairs.add("[i].csv:2", [Repair("no_value", "RSRP 'NaN'")] * 2)
        screen.repairs(repairs)
        rows = MalformedRows(kept_max=11)
        for line in range(12):
            rows.add(Malformed("[b]", line, "bad"))
        screen.malformed(rows)
    screen.result(summary, tmp_path / "report.html")
    shown = text.getvalue()
    assert "sending" in shown
    assert "[b]:1: bad" in shown
    assert "2, first [i].csv:2: RSRP 'NaN'" in shown
    assert "2 more, see summary.json" in shown
    assert "not everything that was sent" in shown
    assert (tmp_path / "report.html").as_uri() in shown
    assert screen.seconds["send"] >= 0
