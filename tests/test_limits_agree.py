"""Do the sections of the configuration have every limit of the node, with the node's default?"""

import json
import re
from pathlib import Path

from lapwing._core import dispatch_table_json
from lapwing.config import Config, node_json
from lapwing.config.topic_tables import TOPIC_TABLES_MAX

NODE_CONFIG = Path(__file__).parent.parent / "crates" / "node" / "src" / "config"


def defaults_of(struct: str) -> dict[str, int | str]:
    """The defaults in `impl Default for STRUCT`; Rust's arithmetic there is Python's too."""
    body = re.search(
        rf"impl Default for {struct} \{{.*?{struct} \{{(.*?)\n        \}}",
        (NODE_CONFIG / "limits.rs").read_text(),
        re.DOTALL,
    )
    assert body, f"no defaults of {struct} in {NODE_CONFIG}"
    numbers = re.findall(r"(\w+): ([\d_ <*+]+|true|false),", body[1])
    choices = re.findall(r"(\w+): \w+::(\w+),", body[1])
    assert len(numbers) + len(choices) == body[1].count(":") - body[1].count("::") * 2
    named = {name: re.sub(r"(?<!^)([A-Z])", r"-\1", variant).lower() for name, variant in choices}
    return {name: eval(expression.title()) for name, expression in numbers} | named


def test_limits_agree() -> None:
    assert json.loads(node_json(Config()))["limits"] == defaults_of("Limits")


def test_guess_defaults_agree() -> None:
    guesses = json.loads(node_json(Config()))["guesses"]
    source = (NODE_CONFIG / "guesses.rs").read_text()
    defaults = dict(re.findall(r"            (\w+): ([\d_]+|true|false),", source))
    assert guesses == {name: eval(default.title()) for name, default in defaults.items()}


def test_stream_defaults_agree() -> None:
    stream = json.loads(node_json(Config(streams={"s": {"filter": "a"}})))["streams"]["s"]  # type: ignore[dict-item]
    source = (NODE_CONFIG / "streams.rs").read_text()
    for name, function in (
        ("partitions", "one"),
        ("retain_age_ms", "one_day_ms"),
        ("segment_bytes", "segment_bytes"),
    ):
        expression = re.search(rf"fn {function}\(\) -> \w+ \{{\s*(.*?)\s*\}}", source)
        assert expression
        assert stream[name] == eval(expression[1])


def test_hold_defaults_agree() -> None:
    hold = json.loads(node_json(Config(hold={"a/#": {}})))["hold"]["a/#"]  # type: ignore[dict-item]
    source = (NODE_CONFIG / "hold.rs").read_text()
    for name in ("messages", "bytes", "expiry_ms"):
        expression = re.search(rf"            {name}: ([\d_ <*+]+),", source)
        assert expression
        assert hold[name] == eval(expression[1])
    assert hold["overflow"] == "drop-oldest"
    assert "overflow: Overflow::DropOldest" in source
    assert hold["durability"] is None
    assert "durability: None" in source


def test_group_defaults_agree() -> None:
    ours = json.loads(node_json(Config(groups={"alarms": {}})))  # type: ignore[dict-item]
    node = json.loads(dispatch_table_json())
    assert ours["groups"]["alarms"] == node["group"]
    assert ours["dispatch"] == node["dispatch"]


def test_as_many_tables_of_topics_on_both_sides() -> None:
    source = (NODE_CONFIG / "topics.rs").read_text()
    assert f"const TOPIC_TABLES_MAX: usize = {TOPIC_TABLES_MAX};" in source
