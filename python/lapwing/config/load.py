"""Builds a configuration from file, environment and flags, and remembers where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from lapwing.config.layers import KeyPath, Layer, environment_layer, file_layer, flag_layer
from lapwing.config.limit_pairs import check_limits
from lapwing.config.model import Config, layered
from lapwing.config.openness import check_listeners
from lapwing.config.own_paths import beside
from lapwing.config.problems import config_error, has_value, place_of


@dataclass(frozen=True)
class Loaded:
    """A configuration, and the layers it was built from (the strongest first)."""

    config: Config
    layers: tuple[Layer, ...]

    @property
    def name(self) -> str:
        """Of the file; empty: there is none."""
        return self.layers[-1].name

    @property
    def text(self) -> str:
        """All of the file, as it was read; empty: there is none."""
        return self.layers[-1].text

    def place(self, path: KeyPath) -> str:
        """Where the value at ``path`` was set; ``"default"`` where nobody set it."""
        strongest = next((layer.places[path] for layer in self.layers if path in layer.places), None)
        return strongest or (place_of(path, self.layers) if _is_set(path, self.layers) else "default")


def _is_set(path: KeyPath, layers: tuple[Layer, ...]) -> bool:
    return any(has_value(layer.values, path) for layer in layers)


def load(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    settings: Iterable[str] = (),
    flags: Mapping[str, tuple[str, object]] | None = None,
) -> Loaded:
    """File < environment < flags.

    Args:
        file: TOML file; None reads none. Relative paths in it are relative to its folder.
        environment: Variables to read; None means those of the process.
        settings: Texts of ``--set KEY=VALUE``.
        flags: Flags with names of their own: key -> (flag as the user typed it, value).

    Raises:
        ConfigError: with every problem found, each naming key, value, place and remedy.
    """
    layers = (
        flag_layer(settings, flags),
        environment_layer(os.environ if environment is None else environment),
        *([beside(file, file_layer(file), Config)] if file else []),
    )
    with layered(layers):
        try:
            config = Config()
        except ValidationError as error:
            raise config_error(error, Config, layers) from error
    check_listeners(config, layers)
    check_limits(config, layers)
    return Loaded(config, layers)
