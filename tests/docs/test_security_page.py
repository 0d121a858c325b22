"""Is what docs/security.md and docs/supply.md say of tests and of unsafe code so, in the sources as they are?"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from pages import DOCS, ROOT

PAGE = "".join((DOCS / name).read_text() for name in ("security.md", "supply.md"))
NAMED = sorted(set(re.findall(r"`([\w./-]+\.(?:py|rs))::(\w*)`", PAGE)))
FUZZED = sorted(set(re.findall(r"`(fuzz/[\w/]+\.rs)`", PAGE)))
UNSAFE_ROWS = re.findall(r"^\| `(crates/[\w/]+\.rs)` \| (\d+) \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)


def has_test(text: str, name: str) -> bool:
    """Whether a source has a test of that name, which is run: marked as one, or found by its name."""
    return bool(re.search(rf"^def {name}\(|#\[test\]\n(?:\s*#\[[^\n]*\]\n)*\s*fn {name}\(", text, re.MULTILINE))


def unsafe_lines(source: str) -> int:
    """Lines with the word as code: neither in a comment nor in a string."""
    code = (re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).partition("//")[0] for line in source.splitlines())
    return sum(bool(re.search(r"\bunsafe\b", line)) for line in code)


def test_finders_find_what_is_there_and_nothing_else() -> None:
    source = (
        '/// unsafe\n#[test]\nfn a() { unsafe { } } // unsafe\nfn b() { "unsafe"; unsafe_code }\nunsafe impl X {}\n'
    )
    assert unsafe_lines(source) == 2
    assert has_test(source, "a")
    assert not has_test(source, "b")
    assert has_test("\ndef test_x(tmp_path):\n", "test_x")
    assert len(NAMED) > 40
    assert len(UNSAFE_ROWS) > 10


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_named_tests_exist(file: str, name: str) -> None:
    assert has_test((ROOT / file).read_text(), name)


def test_named_fuzzers_exist() -> None:
    assert FUZZED
    assert all((ROOT / file).is_file() for file in FUZZED)


def test_every_unsafe_line_is_in_the_table() -> None:
    """Also as many as there are: a new one needs its invariant and its test there."""
    folders = (ROOT / "crates", ROOT / "fuzz" / "fuzz_targets")
    found = Counter(
        {
            file.relative_to(ROOT).as_posix(): unsafe_lines(file.read_text())
            for folder in folders
            for file in folder.rglob("*.rs")
            if "target" not in file.relative_to(ROOT).parts
        }
    )
    assert {file: int(many) for file, many, _ in UNSAFE_ROWS} == {file: many for file, many in found.items() if many}


def test_every_invariant_is_held_by_a_test() -> None:
    for file, _, held_by in UNSAFE_ROWS:
        assert "::" in held_by, file


def test_rooms_without_unsafe_forbid_it() -> None:
    """Each room but `py`, whose macros write some, has either rows in the table or the attribute."""
    with_rows = {Path(file).parts[1] for file, _, _ in UNSAFE_ROWS if "/src/" in file}
    rooms = {room.name for room in (ROOT / "crates").iterdir() if (room / "src" / "lib.rs").is_file()}
    forbidding = {
        room for room in rooms if "#![forbid(unsafe_code)]" in (ROOT / "crates" / room / "src" / "lib.rs").read_text()
    }
    assert forbidding == rooms - with_rows - {"py"}
    (said,) = re.findall(r"forbid it \(`#!\[forbid\(unsafe_code\)\]`\): ([\w, ]+)\.", PAGE)
    assert set(said.split(", ")) == forbidding
