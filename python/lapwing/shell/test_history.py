"""The file of lines typed before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lapwing.errors import LapwingError
from lapwing.shell.history import LineHistory, has_password, history_file


def test_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert history_file() == Path("/state/lapwing/shell-history")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert history_file() == Path.home() / ".local/state/lapwing/shell-history"


def test_kept_and_bounded(tmp_path: Path) -> None:
    """Do lines come back, the newest first, and does the file not grow without end?"""
    file = tmp_path / "deep" / "history"
    history = LineHistory(file)
    history.prepare()
    for number in range(1_005):
        history.store_string(f"pub t {number}")
    history.store_string("pasted\nin one")
    again = LineHistory(file)
    again.prepare()
    lines = list(again.load_history_strings())
    assert lines[:2] == ["pasted in one", "pub t 1004"]
    assert len(lines) == len(file.read_text().splitlines()) == 1_000
    assert file.stat().st_mode & 0o777 == 0o600


def test_unusable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LapwingError, match=str(tmp_path)):
        LineHistory(tmp_path).prepare()
    os.mkfifo(tmp_path / "pipe")
    history = LineHistory(tmp_path / "pipe")
    with pytest.raises(LapwingError, match="it is a pipe, and no file"):
        history.prepare()
    history.store_string("pub t x")
    assert list(history.load_history_strings()) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("connect d1 --password x", True),
        ("connect d1 --password=x", True),
        ("connect d1 --pasword x", True),
        ("connect d1 --passwort x", True),
        ("connect d1 '--password' x", True),
        ("connect d1 --password 'x", True),
        ("connect d1 --url tls://me:horse@h", True),
        ("connect d1 -u me:horse@h", True),
        ("connect d1 --url=me:horse@h", True),
        ("connect d1 --url tls://h --username me@h", False),
        ("pub t me@h", False),
        ("pub t password", False),
        ("pub t x --property a=b --retain", False),
    ],
)
def test_passwords(line: str, found: bool) -> None:
    assert has_password(line) == found


def test_a_line_with_a_passwords_file_is_kept(tmp_path: Path) -> None:
    assert not has_password("connect d1 --username u --password-file secret.txt")
    assert has_password("connect d1 --username u --pasword secret")
