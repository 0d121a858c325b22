"""Is JSON made shallow without a fault being lost, and without a change to what was shallow already?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapwing.contracts.nesting import LEVELS_MAX, shallow

DOWN, UP = "[" * LEVELS_MAX, "]" * LEVELS_MAX

TEXTS = st.text('a[]{}:,"\\\n\u00e9\U0001f4f6', max_size=6)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=10,
)


def below(text: str) -> str:
    """``text`` where it is too deep to be parsed."""
    return f"{DOWN}[{text}]{UP}"


def end_of_first(text: str) -> int | None:
    """Where the first value of ``text`` ends by the standard library; None where there is none."""
    try:
        return json.JSONDecoder(parse_constant=int).raw_decode(text)[1]
    except ValueError:
        return None


@given(VALUES, st.booleans())
def test_json_is_cut_away_below_the_last_level(value: Any, is_ascii: bool) -> None:
    assert shallow(below(json.dumps(value, ensure_ascii=is_ascii))) == f"{DOWN}[]{UP}"


@given(st.data())
def test_what_is_no_json_is_refused_there_as_a_parser_does(data: st.DataObject) -> None:
    text = list(json.dumps(data.draw(VALUES)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(st.text('[]{}",:\\u0 1-.eE+tn\n', max_size=2))
    damaged = "".join(text)
    within = f"[{damaged}]"
    end = end_of_first(within)
    if end is None:
        with pytest.raises(ValueError, match="character"):
            shallow(DOWN + within)
    elif end == len(within):
        assert shallow(DOWN + within + UP) == f"{DOWN}[]{UP}"


def test_as_many_levels_as_there_may_be_stay() -> None:
    for text in (DOWN + UP, "[" + "[]," * 1000 + "1]", json.dumps(["[" * 1000, '\\"' + "[" * 1000]), '"' + "[" * 1000):
        assert shallow(text) is text
    assert shallow(f"{DOWN}[1],[2]{UP}") == f"{DOWN}[],[]{UP}"


def test_what_follows_the_first_value_is_not_looked_at() -> None:
    text = "{}" + "[" * 1000
    assert shallow(text) is text


def test_a_hundred_thousand_levels_are_no_recursion() -> None:
    assert shallow("[" * 100_000 + "]" * 100_000) == f"{DOWN}[]{UP}"
