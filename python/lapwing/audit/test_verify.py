"""Is a trail that was touched found out, wherever it was touched?"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from lapwing.audit.verify import Verified, trail_files, verify


def sealed(count: int, first: int = 1, before: str = "0" * 64) -> list[str]:
    """Lines as the broker writes them."""
    lines = []
    for number in range(first, first + count):
        hashed = json.dumps({"seq": number, "event": "x"}, separators=(",", ":"))[:-1] + f',"prev":"{before}"'
        before = hashlib.sha256(hashed.encode()).hexdigest()
        lines.append(f'{hashed},"hash":"{before}"}}\n')
    return lines


def verified(file: Path, known: str | None = None) -> Verified:
    return verify(trail_files(file), known)


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """Six lines in three files."""
    file = tmp_path / "audit.jsonl"
    lines = sealed(6)
    for name, part in (("audit.jsonl.2", lines[:2]), ("audit.jsonl.1", lines[2:4]), ("audit.jsonl", lines[4:])):
        (tmp_path / name).write_text("".join(part))
    return file


def test_a_whole_trail(trail: Path) -> None:
    found = verified(trail)
    assert found.broken is None
    assert [file.name for file in found.files] == ["audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"]
    assert (found.lines, found.first, found.last, found.begins_late) == (6, 1, 6, False)
    last = json.loads(sealed(6)[-1])["hash"]
    assert found.last_hash == last
    assert verified(trail, last).broken is None


def test_older_files_that_are_gone(trail: Path) -> None:
    """What the rotation has removed is said, and is no break."""
    trail.with_name("audit.jsonl.2").unlink()
    found = verified(trail)
    assert (found.broken, found.lines, found.begins_late) == (None, 4, True)


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
        ("audit.jsonl", lambda lines: [*lines, lines[0][:-20]], "has no end"),
        ("audit.jsonl", lambda lines: [*lines, '{"seq":7,"hash":"0"}\n'], "not one of a trail"),
        ("audit.jsonl", lambda lines: [lines[0], lines[1][:-2] + ',"more":1}\n'], "was changed"),
    ],
)
def test_a_touched_trail(trail: Path, name: str, change: object, why: str) -> None:
    file = trail.with_name(name)
    assert callable(change)
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    broken = verified(trail).broken
    assert broken is not None
    assert why in broken.why


def test_a_pipe_in_the_place_of_a_trails_file_is_named(trail: Path) -> None:
    older = trail.with_name("audit.jsonl.1")
    older.unlink()
    os.mkfifo(older)
    with pytest.raises(OSError, match="it is a pipe, and no file") as failed:
        verified(trail)
    assert failed.value.filename == str(older)


def test_a_trail_that_was_made_anew(trail: Path) -> None:
    """Who may write the file can make a whole one; not one with the hash that is known."""
    known = json.loads(sealed(6)[3])["hash"]
    assert verified(trail, known).broken is None
    for name, lines in (("audit.jsonl.2", []), ("audit.jsonl.1", []), ("audit.jsonl", sealed(3))):
        trail.with_name(name).write_text("".join(lines))
    assert verified(trail).broken is None
    broken = verified(trail, known).broken
    assert broken is not None
    assert "made anew" in broken.why
