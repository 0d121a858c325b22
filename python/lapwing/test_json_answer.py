"""Does JSON over HTTP show a terminal nothing that it would obey, and a parser what there was?"""

from __future__ import annotations

import json

import pytest

from lapwing.json_answer import JsonAnswer

WILD = ["\x1b[2J", "\x9b2J", "\x85", "\u2028", "\u202egnp.exe", "\ufeff", "\x00\r\n", "\U000e0001", "grün 🐦"]


@pytest.mark.parametrize("name", WILD)
def test_names_are_shown_and_not_obeyed(name: str) -> None:
    body = bytes(JsonAnswer({"client_id": name, name: [name]}).body).decode()
    assert body.isprintable()
    assert json.loads(body) == {"client_id": name, name: [name]}
