"""Builds a configuration from file, environment and flags, and remembers where each value came from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from lapwing.config.dispatch import DispatchSection
from lapwing.config.kinds import without_wrong_kinds
from lapwing.config.layers import KeyPath, Layer, environment_layer, file_layer, flag_layer
from lapwing.config.limit_pairs import check_limits
from lapwing.config.limits import Limits
from lapwing.config.model import Config, layered
from lapwing.config.openness import check_listeners
from lapwing.config.own_paths import beside
from lapwing.config.problems import PROBLEMS_MAX, config_error, has_value, place_of
from lapwing.config.profiles import profile_layer
from lapwing.config.remainder import Doubt, without_wrong
from lapwing.errors import ConfigError, LapwingError

_ROUNDS_MAX = 6
"""So often what is wrong is taken out, and the rest is looked at: some is only looked at where all else is right."""


@dataclass(frozen=True)
class Loaded:
    """A configuration, and the layers it was built from (the strongest first); the last is its profile."""

    config: Config
    layers: tuple[Layer, ...]

    @property
    def name(self) -> str:
        """Of the file; empty: there is none."""
        return self._file.name

    @property
    def text(self) -> str:
        """All of the file, as it was read; empty: there is none."""
        return self._file.text

    @property
    def _file(self) -> Layer:
        return next((layer for layer in self.layers if layer.name), Layer())

    def place(self, path: KeyPath) -> str:
        """Where the value at ``path`` was set; ``"default"`` where nobody set it."""
        strongest = next((layer.places[path] for layer in self.layers if path in layer.places), None)
        return strongest or (place_of(path, self.layers) if _is_set(path, self.layers) else "default")


@dataclass(frozen=True)
class Found:
    """What layers hold.

    Attributes:
        loaded: What can be used of it; None: nothing.
        problems: All that is wrong.
        doubt: What the values that are wrong leave unknown.
        cause: What pydantic has said first.
    """

    loaded: Loaded | None
    problems: list[LapwingError]
    doubt: Doubt
    cause: ValidationError | None

    @property
    def usable(self) -> Config | None:
        """What a start can be tried with; None: nothing. Limits have been told of, and a node refuses them, too."""
        if self.loaded is None:
            return None
        if not self.problems:
            return self.loaded.config
        return self.loaded.config.model_copy(update={"limits": Limits(), "dispatch": DispatchSection()})


def _is_set(path: KeyPath, layers: tuple[Layer, ...]) -> bool:
    return any(has_value(layer.values, path) for layer in layers)


def load(
    file: Path | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    settings: Iterable[str] = (),
    flags: Mapping[str, tuple[str, object]] | None = None,
) -> Loaded:
    """Profile < file < environment < flags.

    Args:
        file: TOML file; None reads none. Relative paths in it are relative to its folder.
        environment: Variables to read; None means those of the process.
        settings: Texts of ``--set KEY=VALUE``.
        flags: Flags with names of their own: key -> (flag as the user typed it, value).

    Raises:
        ConfigError: with every problem found, each naming key, value, place and remedy.
    """
    layers = _layers(file, os.environ if environment is None else environment, settings, flags)
    found = _built(layers)
    if found.problems or found.loaded is None:
        raise ConfigError("the configuration is wrong", problems=found.problems) from found.cause
    return found.loaded


def load_what_is_right(file: Path, settings: Iterable[str] = ()) -> Found:
    """A file, and flags over it: what of them can be used, and all that is wrong, for who says what is wrong besides.

    Args:
        file: TOML file.
        settings: Texts of ``--set KEY=VALUE``.

    Raises:
        ConfigError: nothing can be read of the file.
    """
    return _built(_layers(file, {}, settings, None))


def _layers(
    file: Path | None,
    environment: Mapping[str, str],
    settings: Iterable[str],
    flags: Mapping[str, tuple[str, object]] | None,
) -> tuple[Layer, ...]:
    layers = (
        flag_layer(settings, flags),
        environment_layer(environment),
        *([beside(file, file_layer(file), Config)] if file else []),
    )
    return (*layers, profile_layer(layers))


def _built(layers: tuple[Layer, ...]) -> Found:
    """What the layers say. Where some of it is wrong, what is left is looked at for what is wrong besides."""
    left, problems, paths = without_wrong_kinds(layers, Config)
    taken_out, doubt, cause = Doubt.at(paths), Doubt(), None
    for _ in range(_ROUNDS_MAX):
        try:
            with layered(left):
                config = Config()
        except ValidationError as error:
            problems += doubt.clear(config_error(error, Config, left).problems)
            cause = cause or error
            if error.error_count() > PROBLEMS_MAX:
                break  # a file of something else
            doubt, left = doubt | taken_out | Doubt.of(error, Config), without_wrong(error, left)
            continue
        doubt |= taken_out
        looks = [check_limits] if doubt.words and not doubt.is_openness_known else [check_listeners, check_limits]
        for look in looks:
            try:
                look(config, left)
            except ConfigError as error:
                problems += doubt.clear(error.problems)
        return Found(Loaded(config, left), problems, doubt, cause)
    return Found(None, problems, doubt, cause)
