"""Is of any number of malformed rows a bounded part kept, and each one counted?"""

from __future__ import annotations

from lapwing.lab.malformed_rows import Malformed, MalformedRows


def test_the_first_are_kept_and_all_counted() -> None:
    rows = MalformedRows(kept_max=3)
    assert (len(rows), rows.first, rows.by_file) == (0, [], {})
    for line in range(10):
        rows.add(Malformed("a.csv", line, "bad"))
    rows.add(Malformed("b.csv", 2, "bad"))
    assert [row.line for row in rows.first] == [0, 1, 2]
    assert (len(rows), rows.by_file) == (11, {"a.csv": 10, "b.csv": 1})


def test_what_a_file_says_of_itself_stays_on_one_line() -> None:
    assert str(Malformed("a\n.csv", 4, "RSRP '\x1b[2J'")).isprintable()
