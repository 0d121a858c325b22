"""``[groups."NAME"]`` and ``[dispatch]``: what is refused, how it is named, how it is shown, what the node gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lapwing._core import CoreError, Node, dispatch_table_json
from lapwing.config import Config, Loaded, load, node_json
from lapwing.config.one_group import group_json, parse_group, written_group
from lapwing.config.show import as_json, as_toml
from lapwing.config.strategies import PARAMETERS, STRATEGIES
from lapwing.errors import ConfigError

FULL = """\
[dispatch]
groups_max = 5

[groups."alarm-*"]
strategy = "lef"
parameters = { window = 3, gain = 0.5 }
rules = [
    { topics = ["alarms/fire/#", 'a "quoted" one'], priority = "critical", deadline = "250ms" },
    { topics = ["x"], priority = "bulk" },
]

[groups.alarms]
filters = ["alarms/#"]
expiry = "2h"
queue_bytes_max = "1MiB"
overflow = "drop-newest"
expired = "dead-letter"
dead_letter_topic = "dead/alarms"
missed_topic = "missed/alarms"
behind = "2s"
acknowledges = "processed"
workers = 4

[groups.mine]
use = "package.module:Mine"
fallback = "c3"
timeout = "7ms"
"""


def loaded(folder: Path, text: str = FULL, **layers: object) -> Loaded:
    file = folder / "lapwing.toml"
    file.write_text(text)
    return load(file, **{"environment": {}, **layers})  # type: ignore[arg-type]


def test_the_strategies_are_those_of_the_rust_side() -> None:
    """Has Python the names and ranges that the node has, and no others?"""
    table = json.loads(dispatch_table_json())
    assert tuple(table["strategies"]) == STRATEGIES
    assert {row["name"]: (row["low"], row["high"]) for row in table["parameters"]} == PARAMETERS
    assert all(row["low"] <= row["default"] <= row["high"] and row["meaning"] for row in table["parameters"])


def test_the_node_takes_every_key(tmp_path: Path) -> None:
    """Has the node's table the same keys, in its units, and does the node accept them?"""
    document = node_json(loaded(tmp_path).config)
    Node(document)
    groups = json.loads(document)["groups"]
    assert groups["alarm-*"]["parameters"] == {"window": 3, "gain": 0.5}
    assert groups["alarm-*"]["rules"][0]["deadline_ms"] == 250
    assert groups["alarms"]["expiry_ms"] == 7_200_000
    assert groups["alarms"]["behind_ms"] == 2_000
    assert groups["mine"]["timeout_ms"] == 7
    assert json.loads(document)["dispatch"]["groups_max"] == 5


def test_the_node_refuses_what_it_does_not_know() -> None:
    """Does the node check for itself, with the key and the names?"""
    document = json.loads(node_json(Config()))
    document["groups"] = {"alarms": {"strategy": "fastest"}}
    with pytest.raises(CoreError, match=r"groups\.alarms\.strategy: no strategy .*; there are auto, lef"):
        Node(json.dumps(document))


PROBLEMS = [
    # text of the file; what the one line must be (FILE stands for the file's name)
    ("[groups.a]\nstrategy = 'fastest'", 'groups.a.strategy = "fastest" (FILE:2): no such strategy: there are auto, '),
    ("[groups.a]\nstrategy = 'peak_ewma'", "did you mean peak-ewma? there are auto, lef"),
    ("[groups.a]\nfallback = 'x'", "groups.a.fallback"),
    ("[groups.a]\nparameters = { windov = 3 }", "groups.a.parameters.windov: bad name (FILE:2): no such parameter"),
    ("[groups.a]\nparameters = { windov = 3 }", "did you mean window? there are bulk_factor"),
    ("[groups.a]\nparameters = { window = 0 }", "(FILE:2): window must be 1 to 1000"),
    (
        f"[groups.a]\nparameters = {{ {', '.join(f'p{n} = 1' for n in range(21))} }}",
        "20 parameters, and 21 are",
    ),
    (f"[groups.a]\nstrategy = '{'lef' * 30}'", "(FILE:2): no such strategy: there are auto"),
    ("[groups.a]\nparameters = { gain = nan }", "gain must be 0.001 to 1"),
    ("[groups.a]\nparameters = { window = 'x' }", 'groups.a.parameters.window = "x" (FILE:2)'),
    ("[groups.a]\nuse = 'module'", "must name a module and a class in it"),
    ("[groups.a]\nuse = 'off'", "leave the key out"),
    ("[groups.a]\nuse = 'm:C'\nstrategy = 'lef'", "(FILE:1): give strategy or use, not both"),
    ("[groups.a]\ntimeout = '0s'", "groups.a.timeout"),
    ("[groups.a]\nfilters = ['$share/a/b']", 'groups.a.filters[0] = "$share/a/b" (FILE:2): must be a plain'),
    ("[groups.a]\nfilters = ['x', 'x']", "a filter is there twice"),
    ("[groups.'a*']\nfilters = ['x']", '(FILE:1): "a*" has filters: declare durable groups under a name without *'),
    ("[groups.'a/b']\nworkers = 2", "groups.a/b: bad name (FILE:1): use 1 to 256 bytes"),
    ("[groups.a]\nworkers = 1025", "groups.a.workers = 1025 (FILE:2): must be less than or equal to 1024"),
    ("[groups.a]\nqueue_messages_max = 0", "groups.a.queue_messages_max"),
    ("[groups.a]\nqueue_bytes_max = 0", "groups.a.queue_bytes_max"),
    ("[groups.a]\noverflow = 'drop'", "must be 'drop-oldest' or 'drop-newest'"),
    ("[groups.a]\nexpired = 'dead-letter'", 'expired = "dead-letter" needs dead_letter_topic'),
    ("[groups.a]\ndead_letter_topic = 'a/+'", "it has a wildcard, which only a filter may have"),
    ("[groups.a]\nmissed_topic = '$SYS/x'", "must not begin with $"),
    ("[groups.a]\nfilters = ['a/#']\nmissed_topic = 'a'", 'missed_topic is matched by the group\'s own filter "a/#"'),
    ("[groups.a]\nacknowledges = 'done'", "must be 'undeclared', 'processed' or 'received'"),
    ("[groups.a]\nbehind = 10", "groups.a.behind = 10 (FILE:2): must be a duration"),
    ("[groups.a]\nrules = [{ priority = 'bulk' }]", "groups.a.rules[0].topics is missing (FILE:2)"),
    ("[groups.a]\nrules = [{ topics = ['a'] }]", "(FILE:2): give the rule a priority, a deadline, or both"),
    ("[groups.a]\nrules = [{ topics = ['a'], priority = 'high' }]", "must be 'critical' or 'bulk'"),
    ("[groups.a]\nrules = [{ topics = ['a'], deadline = '2d' }]", "groups.a.rules[0].deadline"),
    ("[groups.a]\nstrategi = 'lef'", "unknown key groups.a.strategi (FILE:2): did you mean groups.a.strategy?"),
    ("[dispatch]\ngroup_max = 1", "unknown key dispatch.group_max (FILE:2): did you mean dispatch.groups_max?"),
    ("[dispatch]\ndeadline_property = 'lapwing-priority'", "must be two names"),
    ("[dispatch]\nmembers_per_group_max = 0", "dispatch.members_per_group_max = 0 (FILE:2)"),
]


@pytest.mark.parametrize(("text", "line"), PROBLEMS)
def test_problem(tmp_path: Path, text: str, line: str) -> None:
    """Is there exactly one line, and does it name key, value, place and remedy?"""
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    (shown,) = caught.value.lines()
    assert line in shown.replace(f"{tmp_path}/lapwing.toml", "FILE")


def test_too_many_tables(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="1000"):
        loaded(tmp_path, "\n".join(f"[groups.g{number}]" for number in range(1_001)))


def values(shown: Loaded) -> dict[str, object]:
    """Every value as it is shown: a path is a whole one there."""
    return {key: each["value"] for key, each in json.loads(as_json(shown)).items()}


def test_shown_groups_are_read_back(tmp_path: Path) -> None:
    """Is the configuration the same after ``config show`` and ``--config``, and has each key its place?"""
    first = loaded(tmp_path)
    shown = as_toml(first)
    assert '[groups."alarm-*"]' in shown
    assert values(loaded(tmp_path, shown)) == values(first)
    assert json.loads(as_json(first))["groups.alarms.expiry"]["value"] == "2h"
    assert json.loads(as_json(first))["groups.mine.strategy"]["from"] == "default"


def test_layers_reach_groups(tmp_path: Path) -> None:
    """Do the environment and flags set keys of a group, its parameters too?"""
    environment = {"LAPWING_GROUPS__ALARMS__STRATEGY": "c3"}
    result = loaded(tmp_path, environment=environment, settings=["groups.alarms.parameters.window=4"])
    alarms = result.config.groups["alarms"]
    assert (alarms.strategy, alarms.parameters, alarms.workers) == ("c3", {"window": 4.0}, 4)


def test_one_table_there_and_back() -> None:
    """Is a table that is written as in a file the same after the node has had it?"""
    written = {
        "strategy": "lef",
        "parameters": {"window": 3.0},
        "filters": ["alarms/#"],
        "expiry": "2h",
        "queue_bytes_max": "1MiB",
        "missed_topic": "missed",
        "behind": "1500ms",
        "rules": [{"topics": ["a"], "deadline": "250ms"}, {"topics": ["b"], "priority": "bulk"}],
    }
    back = written_group(json.loads(group_json(parse_group("alarms", written, "body"))))
    assert {key: back[key] for key in written} == written
    assert "use" not in back, "what is absent stays absent"
    assert parse_group("alarms", back, "body") == parse_group("alarms", written, "body")


@pytest.mark.parametrize(
    ("name", "table", "line"),
    [
        ("alarms", {"strategi": "lef"}, "unknown key groups.alarms.strategi (body): did you mean"),
        ("alarms", {"strategy": "x"}, 'groups.alarms.strategy = "x" (body): no such strategy: there are auto'),
        ("a*", {"filters": ["x"]}, "declare durable groups under a name without *"),
        ("a/b", {}, "groups.a/b: bad name (body)"),
        ("alarms", {"expired": "dead-letter"}, "(body): expired"),
    ],
)
def test_one_table_is_checked(name: str, table: dict[str, object], line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_group(name, table, "body")
    assert line in str(caught.value)
