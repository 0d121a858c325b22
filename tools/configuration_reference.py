"""Prints docs/configuration.md: every key with its default and its meaning, from the typed model itself.

`python tools/configuration_reference.py > docs/configuration.md`; a test compares the two.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from lapwing.config import (
    AuditSection,
    AuthSection,
    BridgeKafka,
    BridgeMqtt,
    BridgeSection,
    BrokerSection,
    ClusterSection,
    DispatchSection,
    EnvelopeSection,
    EventsSection,
    GroupConfig,
    GroupRule,
    HoldConfig,
    HooksSection,
    HttpCheckSection,
    HttpSection,
    JwtSection,
    Limits,
    ListenerConfig,
    LogSection,
    RuleConfig,
    StreamConfig,
    SysSection,
    ToKafka,
    ToMqtt,
    TopicConfig,
)
from lapwing.config.show import is_left_out, written

HEAD = """\
# Configuration

A TOML file (`--config FILE`) lies below the environment (`LAPWING_BROKER__SHARDS=2`), which lies below flags
(`--set broker.shards=2`). Sizes are written `"64MiB"` (or a number of bytes), durations `"24h"`, `"1h30m"`,
`"500ms"`. An unknown key is an error. `lapwing config show` prints what is in force and from where;
`lapwing config check FILE` names each mistake, and all else that a start would refuse, with its remedy. Relative
paths in a file are relative to it, elsewhere to the working directory. Below all of these lies a profile, if one is
named (`broker.profile`): other defaults.

This page is made from the model: `python tools/configuration_reference.py`."""
TABLES: list[tuple[str, type[BaseModel]]] = [
    ("broker", BrokerSection),
    ("[listeners]", ListenerConfig),
    ("streams.NAME", StreamConfig),
    ('topics."FILTER"', TopicConfig),
    ('groups."NAME"', GroupConfig),
    ("groups.NAME.rules", GroupRule),
    ('hold."FILTER"', HoldConfig),
    ("dispatch", DispatchSection),
    ("http", HttpSection),
    ("hooks", HooksSection),
    ("log", LogSection),
    ("limits", Limits),
    ("sys", SysSection),
    ("events", EventsSection),
    ("audit", AuditSection),
    ("cluster", ClusterSection),
    ("envelope", EnvelopeSection),
    ("auth", AuthSection),
    ("auth.jwt", JwtSection),
    ("auth.http", HttpCheckSection),
    ("[rules]", RuleConfig),
    ("bridge", BridgeSection),
    ("bridge.mqtt", BridgeMqtt),
    ("bridge.kafka", BridgeKafka),
    ("[bridge.to_kafka]", ToKafka),
    ("[bridge.to_mqtt]", ToMqtt),
]


def reference() -> str:
    """The whole page."""
    parts = [HEAD]
    for name, model in TABLES:
        rows = "\n".join(f"| `{key}` | {default} | {meaning} |" for key, default, meaning in keys(model))
        parts.append(f"## [{name}]\n\n{summary(model)}\n\n| key | default | meaning |\n|---|---|---|\n{rows}")
    return "\n\n".join(parts) + "\n"


def summary(model: type[BaseModel]) -> str:
    """The docstring of the table's class, as one paragraph."""
    return " ".join((inspect.getdoc(model) or "").split())


def keys(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """Key, default as one writes it, meaning."""
    meanings = attribute_docstrings(model)
    for key, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            continue  # a table of its own
        if field.default is PydanticUndefined:
            default = "required"
        elif is_left_out(field):
            default = "absent"
        else:
            # A path that nobody has set is relative to wherever the broker is started.
            value = str(field.default) if isinstance(field.default, Path) else written(field.default, field)
            default = f"`{value}`" if not isinstance(value, str) else f'`"{value}"`'
        yield key, default.replace("True", "true").replace("False", "false").replace("'", '"'), meanings[key]


def attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The string below each field in the source of `model`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            found[field.target.id] = " ".join(str(below.value.value).split())  # type: ignore[attr-defined]
    return found


if __name__ == "__main__":
    sys.stdout.write(reference())
