"""Is a trail that was touched found out, wherever it was touched?"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from lapwing.audit.verify import verify


def sealed(count: int, first: int = 1, before: str = "0" * 64) -> list[str]:
    """Lines as the broker writes them."""
    lines = []
    for number in range(first, first + count):
        hashed = json.dumps({"seq": number, "event": "x"}, separators=(",", ":"))[:-1] + f',"prev":"{before}"'
        before = hashlib.sha256(hashed.encode()).hexdigest()
        lines.append(f'{hashed},"hash":"{before}"}}\n')
    return lines


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """Six lines in three files."""
    file = tmp_path / "audit.jsonl"
    lines = sealed(6)
    for name, part in (("audit.jsonl.2", lines[:2]), ("audit.jsonl.1", lines[2:4]), ("audit.jsonl", lines[4:])):
        (tmp_path / name).write_text("".join(part))
    return file


def test_a_whole_trail(trail: Path) -> None:
    found = verify(trail)
    assert found.broken is None
    assert [file.name for file in found.files] == ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"]
    assert (found.lines, found.first, found.last, found.begins_late) == (6, 1, 6, False)
    last = json.loads(sealed(6)[-1])["hash"]
    assert found.last_hash == last
    assert verify(trail, last).broken is None


def test_older_files_that_are_gone(trail: Path) -> None:
    """What the rotation has removed is said, and is no break."""
    trail.with_name("audit.jsonl.2").unlink()
    found = verify(trail)
    assert (found.broken, found.lines, found.begins_late) == (None, 4, True)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (sealed(6)[4:], "line 3 is missing: this is 5"),
        ([], "the lines behind line 2 are missing"),
        (None, "behind line 2"),
    ],
)
def test_a_file_from_the_midst_that_is_gone(trail: Path, written: list[str] | None, why: str) -> None:
    """Is it missed, with lines in the file behind it, with none, and without that file?"""
    trail.with_name("audit.jsonl.1").unlink()
    trail.unlink() if written is None else trail.write_text("".join(written))
    found = verify(trail)
    assert [file.name for file in found.files] == ["audit.jsonl.2", "audit.jsonl"][: 1 if written is None else 2]
    assert found.broken is not None
    assert why in found.broken.why


@pytest.mark.parametrize("moved", [1, 2, 3])
def test_a_rotation_that_was_cut_off(trail: Path, moved: int) -> None:
    """It leaves a number out, or no file that is written, and no line: that is no break."""
    for number in (2, 1, 0)[:moved]:
        older = trail.with_name(f"audit.jsonl.{number}") if number else trail
        older.rename(trail.with_name(f"audit.jsonl.{number + 1}"))
    found = verify(trail)
    assert (found.broken, found.lines, found.begins_late) == (None, 6, False)


def test_half_a_line_at_the_end(trail: Path) -> None:
    """A broker that writes it, or a crash, leaves one: that is said, and is no break."""
    trail.write_text(trail.read_text() + sealed(1, 7)[0][:30])
    found = verify(trail)
    assert (found.broken, found.lines, found.ends_in_half) == (None, 6, True)


def test_what_has_another_number_is_not_of_the_trail(trail: Path) -> None:
    for name in (
        "audit.jsonl.20261128",
        "audit.jsonl.02",
        "audit.jsonl.0",
        "audit.jsonl.gz",
        "audit.jsonl.",
        "b.jsonl.3",
    ):
        trail.with_name(name).write_text("not a line\n")
    assert verify(trail).broken is None


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("audit.jsonl.1", lambda lines: [lines[0].replace('"x"', '"y"'), lines[1]], "was changed"),
        ("audit.jsonl.1", lambda lines: [lines[1]], "line 3 is missing"),
        ("audit.jsonl.1", lambda lines: [], "line 3 is missing"),
        ("audit.jsonl.1", lambda lines: [lines[1], lines[0]], "line 3 is missing"),
        ("audit.jsonl.1", lambda lines: [lines[0], lines[0], lines[1]], "line 4 is missing"),
        ("audit.jsonl.1", lambda lines: sealed(2, first=3), "the line before it was changed"),
        ("audit.jsonl", lambda lines: [*lines, '{"seq":7,"event":"x"}\n'], "has no hash"),
        ("audit.jsonl.1", lambda lines: [lines[0], lines[1][:-20]], "has no end"),
        ("audit.jsonl", lambda lines: [*lines, '{"seq":7,"hash":"0"}\n'], "not one of a trail"),
        ("audit.jsonl", lambda lines: [lines[0], lines[1][:-2] + ',"more":1}\n'], "was changed"),
    ],
)
def test_a_touched_trail(trail: Path, name: str, change: object, why: str) -> None:
    file = trail.with_name(name)
    assert callable(change)
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    broken = verify(trail).broken
    assert broken is not None
    assert why in broken.why


def test_a_pipe_in_the_place_of_a_trails_file_is_named(trail: Path) -> None:
    older = trail.with_name("audit.jsonl.1")
    older.unlink()
    os.mkfifo(older)
    with pytest.raises(OSError, match="it is a pipe, and no file") as failed:
        verify(trail)
    assert failed.value.filename == str(older)


def test_a_trail_that_was_made_anew(trail: Path) -> None:
    """Who may write the file can make a whole one; not one with the hash that is known."""
    known = json.loads(sealed(6)[3])["hash"]
    assert verify(trail, known).broken is None
    for name, lines in (("audit.jsonl.2", []), ("audit.jsonl.1", []), ("audit.jsonl", sealed(3))):
        trail.with_name(name).write_text("".join(lines))
    assert verify(trail).broken is None
    broken = verify(trail, known).broken
    assert broken is not None
    assert "made anew" in broken.why
