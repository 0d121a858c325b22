"""Are the files of a trail those of one moment, while a broker turns them over?"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from lapwing.audit import trail_files
from lapwing.audit.trail_files import open_trail
from lapwing.regular_file import open_file

FILES = 4


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A line in each of four files."""
    file = tmp_path / "audit.jsonl"
    for _ in range(FILES):
        turn_over(file)
    return file


def turn_over(file: Path) -> None:
    """What the broker does: the oldest goes, and a file with the next line begins."""
    older = [file, *(file.with_name(f"{file.name}.{number}") for number in range(1, FILES))]
    lines = file.read_text() if file.exists() else "0\n"
    for at in range(FILES - 1, 0, -1):
        if older[at - 1].exists():
            older[at - 1].rename(older[at])
    file.write_text(f"{int(lines) + 1}\n")


def lines(file: Path) -> list[int]:
    with open_trail(file) as trail:
        return [int(opened.file.read()) for opened in trail]


@pytest.mark.parametrize("at", range(FILES))
def test_files_that_move_while_they_are_opened(trail: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is no line met twice, or left out, whichever file was the first that had moved?"""
    opened: list[Path] = []

    def moving(path: Path) -> BinaryIO:
        if len(opened) == at:
            turn_over(trail)
        opened.append(path)
        return open_file(path)

    monkeypatch.setattr(trail_files, "open_file", moving)
    assert lines(trail) == [2, 3, 4, 5]


def test_files_that_move_while_they_are_read(trail: Path) -> None:
    with open_trail(trail) as opened:
        for _ in range(FILES + 1):
            turn_over(trail)
        assert [int(one.file.read()) for one in opened] == [1, 2, 3, 4]
    assert all(one.file.closed for one in opened)


def test_files_that_never_rest_are_named(trail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def moving(path: Path) -> BinaryIO:
        turn_over(trail)
        return open_file(path)

    monkeypatch.setattr(trail_files, "open_file", moving)
    with pytest.raises(OSError, match="moved faster than they can be opened") as failed:
        lines(trail)
    assert failed.value.filename == str(trail)


def test_no_trail(tmp_path: Path) -> None:
    """Is a name, a place or a link that leads nowhere no trail?"""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    places = (tmp_path / "audit.jsonl", tmp_path / "none" / "x", tmp_path / "file" / "x", tmp_path / "link", Path(""))
    assert [lines(path) for path in places] == [[]] * len(places)
