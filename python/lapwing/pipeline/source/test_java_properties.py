"""Are files of settings read as Java reads them?"""

from __future__ import annotations

import pytest

from lapwing.pipeline.source.java_properties import properties

PLAIN = [("a.b", "c=d")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.b=c=d", PLAIN), ("  a.b : c=d", PLAIN), ("a.b:c\\=d\r\n", PLAIN), ("a.b = c\\\n   =d", PLAIN),
        ("# x=y\\\n! z\n\n\fa.b=c=d", PLAIN), ("a\\.b=\\u0063\\u003dd", PLAIN), ("a.b=c\\\r\n\\=d", PLAIN),
        ("a.b=c\\\n#d", [("a.b", "c#d")]), ("a.b=c\\\\\nd=e", [("a.b", "c\\"), ("d", "e")]), ("a\\:b=", [("a:b", "")]),
        ("a=\\t\\n\\q\\ud83d\\ude00", [("a", "\t\nq\U0001f600")]), ("a=b\\", [("a", "b")]), ("a b", [("a", None)]),
        ("a", [("a", None)]), ("=b", [("", "b")]), ("", []), ("\\", [("", None)]), ("a=\\ud83d", [("a", "\ufffd")]),
    ],
)  # fmt: skip
def test_what_java_reads(text: str, found: list[tuple[str, str | None]]) -> None:
    assert [(name, value) for _, name, value in properties(text)] == found


def test_a_setting_is_where_it_begins() -> None:
    assert [number for number, *_ in properties("\n#\na=b\\\n\\\nc\n\nd=e")] == [3, 7]


@pytest.mark.parametrize("text", ["a=\\u12s3cret", "a=\\u", "\\u00g0=b"])
def test_half_an_escape_is_none_and_is_not_shown(text: str) -> None:
    with pytest.raises(ValueError, match="four hexadecimal digits") as caught:
        list(properties(text))
    assert "s3cret" not in str(caught.value)
