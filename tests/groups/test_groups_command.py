"""`lapwing groups`: a real broker's groups from the outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest
from commands import Running, call, lapwing, one_error, rows
from members import NEVER_STALLED
from over_http import DEADLINE_S, Groups

from lapwing import Broker, Client

Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]
pytestmark = pytest.mark.lapwing(http="127.0.0.1:0", groups={"alarms": {"filters": ["alarms/#"], **NEVER_STALLED}})


def test_groups_and_members_are_shown(lapwing_broker: Broker, groups: Groups, publish: Publish) -> None:
    """Is the only group shown with its members, and of several one by name?"""
    url = lapwing_broker.http_url
    with Client(lapwing_broker.url, client_id="analyser") as member:
        member.subscribe("$share/alarms/alarms/#", qos=1)
        publish(lapwing_broker.url, [("alarms/1", b"x")])
        member.receive(timeout_s=DEADLINE_S)
        groups.until("alarms", lambda group: group["counters"]["acknowledged"] == 1)
        text = call("groups", "--url", url).stdout
        assert "alarms  alarms/#  auto      1 of 1" in text
        assert "members of alarms, alarms/#\nMEMBER    STATE" in text
        assert "\nanalyser  here" in text
        member.subscribe("$share/other/x", qos=1)
        groups.until("other", lambda group: group["members_here"] == 1)
        both = call("groups", LAPWING_HTTP_URL=url).stdout
        assert "other" in both
        assert "members of" not in both
        assert "members of other, x" in call("groups", "other", "--url", url).stdout
        shown = rows(call("groups", "--json", "--url", url))
        assert [group["name"] for group in shown] == ["alarms", "other"]
        assert shown == rows(call("groups", "show", "--json", "--url", url))


def test_settings_come_change_and_go(lapwing_broker: Broker, groups: Groups) -> None:
    """Does each command change what HTTP then says, without a word?"""
    url = lapwing_broker.http_url
    for words in (
        ("add", "jobs", "-f", "jobs/#", "-f", "more", "-s", "lef", "--set", "parameters.window=5"),
        ("set", "jobs", "behind=30s", "strategy=c3", "parameters.window=", "workers=4"),
    ):
        result = call("groups", *words, "--url", url)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    settings = groups.get("jobs").json()["settings"]
    assert (settings["filters"], settings["strategy"], settings["behind"]) == (["jobs/#", "more"], "c3", "30s")
    assert (settings["parameters"], settings["workers"]) == ({}, 4)
    groups.until("jobs", lambda group: group["strategy"] == "c3")
    assert len(rows(call("groups", "jobs", "--json", "--url", url))) == 2
    assert call("groups", "remove", "jobs", "--url", url).returncode == 0
    assert call("groups", "remove", "jobs", "--url", url).returncode == 1


def test_watch_goes_on(lapwing_broker: Broker, groups: Groups, publish: Publish) -> None:
    """Does --watch tell again what has changed, as a line of JSON and as a table?"""
    groups.until("alarms", lambda group: True)
    with Running("groups", "alarms", "--watch", "--json", "--url", lapwing_broker.http_url) as watching:
        assert json.loads(watching.line())["waiting_bulk"] == 0
        publish(lapwing_broker.url, [("alarms/1", b"x")])
        while json.loads(watching.line())["waiting_bulk"] != 1:
            pass
    with Running("groups", "--watch", "--url", lapwing_broker.http_url) as watching:
        heads = [line for line in (watching.line() for _ in range(4)) if line.startswith("GROUP")]
        assert len(heads) == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["none"], 1, "no group 'none'"),
        (["none"], 1, "known: alarms"),
        (["add", "alarms", "--strategy", "lef"], 1, "see lapwing groups set alarms"),
        (["set", "none", "strategy=lef"], 1, "there are no settings for 'none'"),
        (["remove", "none"], 1, "no group 'none'"),
        (["set", "alarms", "strategy=fastest"], 2, "there are auto, lef"),
        (["set", "alarms", "strategi=lef"], 2, "did you mean groups.alarms.strategy?"),
        (["set", "alarms", "parameters.window=0"], 2, "window must be 1 to 1000"),
        (["set", "alarms", "strategy"], 2, "is not KEY=VALUE"),
        (["add", "a*", "--filter", "x"], 2, "declare durable groups under a name without *"),
    ],
)
def test_errors(lapwing_broker: Broker, words: list[str], code: int, said: str) -> None:
    result = call("groups", *words, "--url", lapwing_broker.http_url)
    assert result.returncode == code
    assert said in one_error(result)


def test_a_group_without_settings_is_not_removed(lapwing_broker: Broker, groups: Groups) -> None:
    """A group that lives, and no table: does it say so, and not that there is no such group? And while a declared one
    that was removed goes on with its member?"""
    with Client(lapwing_broker.url) as member:
        member.subscribe("$share/live/l/#", qos=1)
        member.subscribe("$share/alarms/alarms/#", qos=1)
        groups.until("live", lambda group: group["members_here"] == 1)
        groups.until("alarms", lambda group: group["members_here"] == 1)
        assert call("groups", "remove", "alarms", "--url", lapwing_broker.http_url).returncode == 0
        groups.until("alarms", lambda group: not group["is_durable"])
        for name in ("live", "alarms"):
            result = call("groups", "remove", name, "--url", lapwing_broker.http_url)
            assert result.returncode == 1
            assert f"group '{name}' has no settings of its own" in one_error(result)
            answer = groups.delete(name)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "group_without_settings")


def test_nobody_answers() -> None:
    result = lapwing("groups", "--url", "http://127.0.0.1:1")
    assert result.returncode == 3
    assert "http://127.0.0.1:1" in one_error(result)
