"""What is typed, or pasted, at a terminal."""

from __future__ import annotations

from lapwing.shell.terminal import lines_of


def test_lines_end_where_somebody_ends_them() -> None:
    """A topic may hold what only looks like the end of a line."""
    assert lines_of("sub a\r\nsub b\nsub c") == ["sub a", "sub b", "sub c"]
    typed = "sub 'x\u2028disconnect d1 --forget\u0085y\x0bz\x0c'"
    assert lines_of(typed) == [typed]
