"""Named sets of defaults: what a key has that nobody has set. They lie below file, environment and flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

from lapwing.config.layers import KeyPath, Layer

ProfileName = Literal["standard", "edge"]

Tables = Mapping[str, Mapping[str, object]]

PROFILES: Mapping[str, Tables] = {
    # The defaults of the model: for a server of its own.
    "standard": {},
    # A gateway with little memory and flash, and a thousand clients at most; docs/edge.md has why each is as it is.
    "edge": {
        "broker": {"shards": 1, "pin": False, "log_init_zero": False},
        "http": {"connections_max": 16, "reads_max": 2, "reads_per_identity_max": 2},
        "limits": {
            "connections_max": 2_048,
            "strangers_max": 1_024,
            "strangers_per_address_max": 512,
            "strangers_bytes_max": "1MiB",
            "handshakes_max": 32,
            "handshakes_per_address_max": 16,
            "password_checks_max": 64,
            "password_threads": 1,
            "packet_bytes_max": "256KiB",
            "connect_bytes_max": "16KiB",
            "subscriptions_per_session_max": 1_000,
            "groups_per_session_max": 100,
            "sessions_offline_max": 2_048,
            "receive_maximum": 64,
            "inflight_messages_max": 64,
            "queue_messages_max": 100_000,
            "queue_bytes_max": "4MiB",
            "queue_memory_bytes": "4MiB",
            "memory_high_bytes": "14MiB",
            "output_high_bytes": "64KiB",
            "output_bytes_max": "512KiB",
            "retained_messages_max": 10_000,
            "retained_bytes_max": "4MiB",
            "log_lane_bytes": "1MiB",
            "log_snapshot_bytes": "128KiB",
            "log_segment_bytes": "1MiB",
            "read_bytes_per_turn": "64KiB",
        },
    },
}


def profile_layer(layers: Sequence[Layer]) -> Layer:
    """What the profile sets that ``layers`` (the strongest first) name; nothing, where they name none that there is."""
    name = next((name for layer in layers if (name := _named(layer)) is not None), None)
    layer = Layer()
    for table, keys in PROFILES.get(str(name), {}).items():
        for key, value in keys.items():
            layer.put((table, key), value, f"profile {name}")
    return layer


def _named(layer: Layer) -> object:
    broker = layer.values.get("broker")
    return broker.get("profile") if isinstance(broker, dict) else None


def with_profile(tables: dict[str, Any], models: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    """The tables of a whole configuration with what its profile sets and they do not.

    Args:
        tables: As a configuration is made of them: each a mapping, or its model.
        models: The model of each table.
    """
    broker = tables.get("broker", {})
    name = broker.get("profile") if isinstance(broker, dict) else getattr(broker, "profile", None)
    filled = {
        table: _filled(tables.get(table, {}), keys, models[table])
        for table, keys in PROFILES.get(str(name), {}).items()
    }
    return {**tables, **filled}


def _filled(table: Any, keys: Mapping[str, object], model: type[BaseModel]) -> Any:
    if isinstance(table, dict):
        return {**keys, **table}
    if isinstance(table, BaseModel):
        values = model.model_validate(keys)
        missing = {key: getattr(values, key) for key in keys if key not in table.model_fields_set}
        return table.model_copy(update=missing)
    return table  # it is wrong, and is told so


def default_of(profile: str, key: KeyPath, model: type[BaseModel]) -> Any:
    """What a key of a configuration with this profile has where nobody has set it.

    Args:
        profile: Its name.
        key: Of a table at the top, or of one below.
        model: The model of the table that the key is in.
    """
    keys = PROFILES[profile].get(key[0], {}) if len(key) == 2 else {}
    return getattr(_values(profile, key[0], model), key[1]) if key[-1] in keys else model.model_fields[key[-1]].default


@cache
def _values(profile: str, table: str, model: type[BaseModel]) -> BaseModel:
    return model.model_validate(PROFILES[profile][table])
