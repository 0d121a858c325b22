"""Does `examples/sensors_sn.py` run as it stands: devices, a group, a page, a stream?"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "sensors_sn.py"


def test_it_shows_what_is_too_warm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--sensors", "2", "--readings", "10"])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    *sensors, summary = capsys.readouterr().out.splitlines()
    assert sensors == ["sensor-0: too warm at 4, 9", "sensor-1: too warm at 4, 9"]
    # The last readings are warm ones, so all have been looked at; one may be twice, where a member was lost.
    found = re.fullmatch(r"(\d+) readings looked at, (\d+) in the stream", summary)
    assert found
    looked_at, kept = map(int, found.groups())
    assert looked_at >= 20
    assert kept >= 20
