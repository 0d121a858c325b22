"""Is everything that a reload does not take over named, whatever tables there will be?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lapwing.broker_reload import reload_json
from lapwing.config import Config
from lapwing.config.auth import AuthSection, access_tables, guess_table
from lapwing.config.restart import AT_START, OF_OTHERS, RELOADED, in_words, waiting_for_restart

OTHER = {
    "broker": {"drain": "1s", "files": "warn"},
    "listeners": [{"url": "tcp://127.0.0.1:1884"}],
    "http": {"connections_max": 7},
    "hooks": {"use": "mine.py:Mine"},
    "log": {"level": "warning"},
    "limits": {"connections_max": 77},
    "sys": {"interval": "77s"},
    "events": {"clients": True},
    "audit": {"file": "audit.jsonl"},
    "cluster": {"name": "north"},
    "envelope": {"stamp": "always"},
    "streams": {"s": {"filter": "a"}},
    "dispatch": {"metrics_label_bytes_max": 77},
    "hold": {"a/#": {}},
    "topics": {"a/#": {"durability": "memory"}},
    "groups": {"g": {"strategy": "random"}},
    "rules": [{"identity": "*", "may": ["publish"], "topics": ["#"]}],
    "auth": {"failures_max": 7, "no_rules": True},
}


def test_every_table_is_taken_over_or_not() -> None:
    assert sorted((*RELOADED, *AT_START, *OF_OTHERS)) == sorted(Config.model_fields)
    assert OTHER.keys() == {*RELOADED, *AT_START}, "the next test has each"


@pytest.mark.parametrize("table", OTHER)
def test_what_is_not_taken_over_is_named(table: str) -> None:
    """By its key, where it is one of a section; and what the node is told at a reload says which tables are."""
    before, now = Config(), Config.model_validate({table: OTHER[table]})
    named = waiting_for_restart(before, now)
    nothing = json.loads(reload_json(before, before, access_tables(before)))
    is_told = json.loads(reload_json(before, now, access_tables(now))) != nothing
    if table == "auth":
        assert named == ["auth.failures_max"]
    else:
        assert is_told == (table in RELOADED)
        assert bool(named) == (table in AT_START)
    assert waiting_for_restart(now, now) == []
    if table == "broker":
        assert named == ["broker.drain"], "broker.files counts at the reload itself"


def test_what_of_auth_is_read_at_the_start_only() -> None:
    """Exactly what the node has of it at the start, and not at a reload."""
    begun = AuthSection()
    for key in AuthSection.model_fields:
        value = getattr(begun, key)
        if not isinstance(value, bool | int):
            continue
        now = begun.model_copy(update={key: not value if isinstance(value, bool) else value + 1})
        is_of_start = guess_table(now) != guess_table(begun)
        config = Config().model_copy(update={"auth": now})
        assert waiting_for_restart(Config(), config) == ([f"auth.{key}"] if is_of_start else [])


def test_very_many_are_counted() -> None:
    assert in_words(["a", "b"]) == "a, b"
    assert in_words(list("abcdefghijklmnopqrstuvw")).endswith("s, t and 3 more")


def test_the_path_of_a_certificate_is_read_at_the_start(tmp_path: Path) -> None:
    """What it holds is read again; another name for it is not."""
    before = Config.model_validate({"http": {"certificate": str(tmp_path / "a"), "key": str(tmp_path / "b")}})
    now = Config.model_validate({"http": {"certificate": str(tmp_path / "c"), "key": str(tmp_path / "b")}})
    assert waiting_for_restart(before, now) == ["http.certificate"]
