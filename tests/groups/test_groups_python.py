"""Groups of a `lapwing.Broker`: shown and changed from Python."""

from __future__ import annotations

import time

import pytest
from over_http import DEADLINE_S

from lapwing import Broker
from lapwing.config import GroupConfig
from lapwing.errors import ConfigError


def names(broker: Broker) -> list[str]:
    return [group["name"] for group in broker.groups()]


def test_settings_come_and_go(lapwing_broker: Broker) -> None:
    """Is a table taken as a mapping and as a model, and does its group end with it?"""
    lapwing_broker.put_group("jobs", {"filters": ["jobs/#"], "behind": "5s"})
    lapwing_broker.put_group("more", GroupConfig(filters=["more"], workers=2))
    until = time.monotonic() + DEADLINE_S
    while names(lapwing_broker) != ["jobs", "more"]:
        assert time.monotonic() < until
    assert lapwing_broker.remove_group("jobs")
    assert not lapwing_broker.remove_group("jobs")
    while names(lapwing_broker) != ["more"]:
        assert time.monotonic() < until


def test_what_is_wrong_is_named(lapwing_broker: Broker) -> None:
    with pytest.raises(ConfigError, match=r"groups\.jobs\.strategy = \"fastest\" \(put_group\): .*there are auto"):
        lapwing_broker.put_group("jobs", {"strategy": "fastest"})
    with pytest.raises(ConfigError, match="without \\*"):
        lapwing_broker.put_group("jobs-*", GroupConfig(filters=["jobs/#"]))
    assert lapwing_broker.groups() == []
