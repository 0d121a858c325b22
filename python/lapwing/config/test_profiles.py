"""Profiles: what they set, where they stand among the layers, and that they are no reason to refuse a configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapwing.config import Config, load
from lapwing.config.model import BrokerSection
from lapwing.config.profiles import PROFILES
from lapwing.config.show import entries
from lapwing.errors import ConfigError


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_a_whole_configuration(name: str) -> None:
    """Each limit against each other: a start with a profile and nothing else is refused by nobody."""
    loaded = load(environment={}, settings=[f"broker.profile={name}"])
    standard = load(environment={})
    told = {entry.path: entry.value for entry in entries(loaded) if entry.place == f"profile {name}"}
    assert set(told) == {(table, key) for table, keys in PROFILES[name].items() for key in keys}
    for table, key in told:
        differs = getattr(getattr(loaded.config, table), key) != getattr(getattr(standard.config, table), key)
        assert differs, f"{table}.{key} is the default anyway"


def test_what_is_said_goes_before_the_profile(tmp_path: Path) -> None:
    """File, environment and flags: each value from there, with its place, and the rest of the profile."""
    file = tmp_path / "lapwing.toml"
    file.write_text('[broker]\nprofile = "edge"\n[limits]\nretained_messages_max = 50\n')
    environment = {"LAPWING_LIMITS__RECEIVE_MAXIMUM": "7"}
    loaded = load(file, environment=environment, settings=["limits.inflight_messages_max=9"])
    limits = loaded.config.limits
    assert (limits.retained_messages_max, limits.receive_maximum, limits.inflight_messages_max) == (50, 7, 9)
    assert (limits.log_segment_bytes, loaded.config.broker.shards) == (1 << 20, 1)
    places = [loaded.place(("limits", key)) for key in ("retained_messages_max", "log_segment_bytes", "spin_us")]
    assert places == [f"{file}:4", "profile edge", "default"]
    assert (loaded.name, loaded.text) == (str(file), file.read_text())


def test_the_strongest_layer_names_the_profile(tmp_path: Path) -> None:
    """A flag takes a file's profile back."""
    file = tmp_path / "lapwing.toml"
    file.write_text('[broker]\nprofile = "edge"\n')
    assert load(file, environment={}, settings=["broker.profile=standard"]).config.limits == Config().limits


def test_a_limit_may_be_lowered_alone() -> None:
    """What a profile sets gives way as a default does; what contradicts it in earnest is told where each stands."""
    assert load(environment={}, settings=["broker.profile=edge", "limits.connections_max=40"])
    with pytest.raises(ConfigError) as raised:
        load(environment={}, settings=["broker.profile=edge", "limits.memory_max_bytes=8MiB"])
    assert "limits.memory_high_bytes = 14MiB (profile edge)" in str(raised.value)


def test_a_profile_holds_in_python_too() -> None:
    """However a configuration is built: of tables, or of their models."""
    expected = load(environment={}, settings=["broker.profile=edge"]).config
    assert Config(broker={"profile": "edge"}) == expected  # type: ignore[arg-type]
    given = Config(broker=BrokerSection(profile="edge", shards=2))
    assert (given.broker.shards, given.broker.pin, given.limits) == (2, False, expected.limits)


def test_an_unknown_profile_is_refused() -> None:
    """With those there are."""
    with pytest.raises(ConfigError, match="must be 'standard' or 'edge'"):
        load(environment={}, settings=["broker.profile=egde"])
