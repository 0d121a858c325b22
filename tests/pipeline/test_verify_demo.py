"""Does the tool that judges demos see what is wrong with one?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from lapwing.lab.demo_summary import summarise
from lapwing.lab.malformed_rows import MalformedRows
from lapwing.pipeline.report import draw
from lapwing.pipeline.report.conftest import write_tables
from lapwing.pipeline.report.draw import gather_facts

TOOL = Path(__file__).resolve().parents[2] / "tools" / "verify_demo.py"
READINGS = 200
PHASES = ("prepare", "broker", "spark", "connect", "send", "catch_up", "draw", "total")


def verify(out: Path) -> int:
    """Its exit status."""
    spec = spec_from_file_location("verify_demo", TOOL)
    assert spec
    assert spec.loader
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    status: int = tool.main(out)
    return status


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a demo leaves, without one."""
    out = tmp_path_factory.mktemp("demo")
    write_tables(out, devices=4, minutes=1, readings=READINGS)
    draw(out)
    fleet = {"acknowledged": READINGS, "complete": True}
    arguments = {"seed": 7, "devices": 4, "seconds": 50.0, "rate": 1.0}
    summary = summarise(arguments, fleet, gather_facts(out), dict.fromkeys(PHASES, 1.0), MalformedRows())
    # Rows of `quality` are made of chance: only a real demo's agree with those of `readings`.
    replace(summary, received=READINGS).write(out / "summary.json")
    return out


def test_a_whole_one_is_good(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(demo) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda told: told.update(sent=0, received=0), "0 readings sent"),
        (lambda told: told["arguments"].update(rate=0.5), "of at most 100"),
        (lambda told: told.update(missing=1), "missing 1"),
        (lambda told: told.update(lost=1), "lost 1"),
        (lambda told: told["rows"].update(quality=1), "tables/quality"),
        (lambda told: told["seconds"].pop("send"), "no seconds of the phase send"),
    ],
    ids=["nothing", "too many", "missing", "lost", "rows", "seconds"],
)
def test_a_figure_that_is_wrong_is_told(
    demo: Path, change: Callable[[dict[str, Any]], object], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = demo / "summary.json"
    kept = file.read_text()
    summary = json.loads(kept)
    change(summary)
    file.write_text(json.dumps(summary))
    try:
        assert verify(demo) == 1
    finally:
        file.write_text(kept)
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", ["loss.png", "report.html"])
def test_a_file_that_is_cut_off_is_told(demo: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = (demo / name).read_bytes()
    (demo / name).write_bytes(kept[:9_000])
    try:
        assert verify(demo) == 1
    finally:
        (demo / name).write_bytes(kept)
    assert f"{name}: 9000 bytes only" in capsys.readouterr().err
