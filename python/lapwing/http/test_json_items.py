"""Is what is parsed in pieces the same, and is nothing taken for an object that is none?"""

from __future__ import annotations

import json

import pytest

from lapwing.http.json_items import parse_in_items


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "document",
    [
        {},
        {"sessions": [], "next": None},
        {
            "groups": [{"name": '"]}', "members": [[], [1, [2]]]}, 3, "é\u202e"],
            "matching": 1,
            "a": {"b": [1]},
            "z": [0],
        },
    ],
)
def test_the_same(document: dict[str, object], indent: int | None) -> None:
    for text in (json.dumps(document, indent=indent), json.dumps(document, indent=indent, ensure_ascii=False)):
        assert parse_in_items(text) == document
        assert parse_in_items(f" {text}\n") == document


def test_every_beginning_of_a_document_and_what_follows_one_is_refused() -> None:
    text = json.dumps({"a": [1, {"b": "c"}], "d": None})
    for end in range(len(text)):
        with pytest.raises(ValueError, match=r"."):
            parse_in_items(text[:end])
    for wrong in ("[]", "1", '{"a" 1}', '{"a":[1 2]}', f"{text},", f"{text}{text}"):
        with pytest.raises(ValueError, match=r"."):
            parse_in_items(wrong)
