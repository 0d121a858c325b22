"""Groups that were declared before a start, and whose settings cannot be what they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_groups_killed import broker, publish, until, waiting
from web import get

MODULE = """
from lapwing.strategy import Strategy

class Last(Strategy):
    def choose(self, asks):
        return [max(ask.members, key=lambda member: member.client_id).client_id for ask in asks]
"""


def test_a_strategy_that_is_not_loaded_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Does a group come back with its strategy in Python while the configuration names that anywhere, else with the one
    that stands in for it; and does it take other settings then?"""
    (tmp_path / "chooser.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    use = 'use = "chooser:Last"\nfallback = "round-robin"\n'
    with broker(tmp_path, 2, f'[groups.g]\nfilters = ["t/#"]\n{use}') as running:
        publish(running, "0")
    with broker(tmp_path, 2, f"[groups.other]\n{use}") as running:
        assert until(running, lambda group: waiting(group) == 1)["strategy"] == "chooser:Last"
    with broker(tmp_path, 2, "") as running:
        found = until(running, lambda group: waiting(group) == 1)
        assert (found["strategy"], found["deferred"]) == ("round-robin", None)
        settings = get(f"{running.http}/v1/groups/g").json()["settings"]
        assert settings.get("use") is None
        changed = json.dumps({**settings, "behind": "5s"}).encode()
        assert get(f"{running.http}/v1/groups/g", method="PUT", content=changed).status_code == 200
        assert running.end() == 0
        (line,) = (line for line in running.errors if "group g on t/# was declared before" in line)
        assert "its strategy chooser:Last is not loaded: round-robin chooses" in line
