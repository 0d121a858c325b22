"""Do the sections of the configuration have every key of the node, with the default that the node itself tells?"""

from __future__ import annotations

import json
from typing import Any

from lapwing._core import default_tables_json, dispatch_table_json
from lapwing.config import Config, node_json
from lapwing.config.topic_tables import TOPIC_TABLES_MAX
from lapwing.regular_file import CERTIFICATE_BYTES_MAX

NODE: dict[str, Any] = json.loads(default_tables_json())
ONLY_OURS = {"data_dir"}
"""Keys whose defaults differ on purpose: a node alone keeps nothing, the product does."""


def ours(**tables: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(node_json(Config(**tables)))  # type: ignore[arg-type]
    return document


def test_the_whole_configuration_agrees() -> None:
    """Every section, limits and guesses among them: the same keys, the same values, on both sides."""
    tables, node = ours(), NODE["config"]
    assert len(node["limits"]) > 50
    assert sorted(tables) == sorted(node)
    for section in node.keys() - ONLY_OURS:
        assert tables[section] == node[section], section


def test_tables_by_name_agree() -> None:
    assert ours(streams={"s": {"filter": "#"}})["streams"]["s"] == NODE["stream"]
    assert ours(hold={"a/#": {}})["hold"]["a/#"] == NODE["hold"]


def test_group_defaults_agree() -> None:
    tables, node = ours(groups={"alarms": {}}), json.loads(dispatch_table_json())
    assert tables["groups"]["alarms"] == node["group"]
    assert tables["dispatch"] == node["dispatch"]


def test_files_of_certificates_have_one_bound() -> None:
    assert NODE["certificate_bytes_max"] == CERTIFICATE_BYTES_MAX


def test_as_many_tables_of_topics_on_both_sides() -> None:
    assert NODE["topic_tables_max"] == TOPIC_TABLES_MAX
