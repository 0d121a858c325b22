"""Is text of strangers shown on one line, and as it stands?"""

from __future__ import annotations

import json

import pytest

from lapwing.cli.app import print_error
from lapwing.cli.common import echo_json, table
from lapwing.errors import LapwingError
from lapwing.text import json_text, one_line, payload_text

FORGED = "x\nnotice: forged \x1b[2J\x9b31m\u202egnp"
SHOWN = r"x\nnotice: forged \x1b[2J\x9b31m\u202egnp"


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert one_line(FORGED) == SHOWN
    assert payload_text(FORGED.encode()) == SHOWN
    assert payload_text(b"\xff\x00") == r"\xff\x00"
    assert one_line("Überwachung 東京") == "Überwachung 東京"


def test_a_name_stays_in_its_row() -> None:
    assert table([[FORGED, 1]], ["client", "n"]).splitlines()[1:] == [f"{SHOWN}  1"]


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(LapwingError("the broker said", where=FORGED, remedy="try again"))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert SHOWN.replace(r"\n", " ") in lines[0]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_json_is_text_of_all_languages_but_on_a_terminal(
    is_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal, raising=False)
    echo_json({"topic": "東京\u009b\u202e"})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"topic": "東京\u009b\u202e"}
    assert printed.isascii() is is_terminal
    assert printed.removesuffix("\n").isprintable()


def test_json_keeps_what_it_says() -> None:
    for text in (FORGED, "\U000e0041\U0001f600\ud800", '"\\', "a\u00adb"):
        assert json.loads(json_text({"x": text})) == {"x": text}
        assert json_text(text).isprintable()
