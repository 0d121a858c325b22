"""The layers of configuration, each a nested table of values and the place each value came from.

A profile lies below the file, a file below the environment, the environment below flags. Text from the environment
and from flags is taken as it stands, and as TOML where it begins with ``[`` or ``{`` (lists and inline tables); the
model turns ``"2"`` into 2 where it wants a number.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lapwing.config.secret_text import without_secrets
from lapwing.config.toml_lines import key_lines
from lapwing.errors import ConfigError, LapwingError
from lapwing.regular_file import read_once
from lapwing.toml_parse import parse_toml

KeyPath = tuple[str, ...]
ENVIRONMENT_PREFIX = "LAPWING_"
_FILE_BYTES_MAX = 1 << 20
_KEY_PART = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([^."'=]+))\s*([.=])""")


@dataclass
class Layer:
    """Values of one source, and for each key path in it where that stands; of a file also its name and its text."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[KeyPath, str] = field(default_factory=dict)
    name: str = ""
    text: str = ""

    def put(self, path: KeyPath, value: object, place: str) -> None:
        """Sets ``value`` at ``path``, making tables on the way; a scalar on the way is overwritten."""
        table = self.values
        for name in path[:-1]:
            below = table.setdefault(name, {})
            if not isinstance(below, dict):
                below = table[name] = {}
            table = below
        table[path[-1]] = value
        self.places[path] = place


def file_layer(path: Path) -> Layer:
    """Reads a TOML file.

    Raises:
        ConfigError: missing, unreadable, too large, not UTF-8 or not TOML; names file and line.
    """
    text = _read(path)
    try:
        values = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        message, line = _syntax_error(str(error), text)
        raise ConfigError(
            f"not valid TOML: {message}",
            where=f"{path}:{line}",
            remedy="correct this line",
        ) from error
    return Layer(values, {key: f"{path}:{line}" for key, line in key_lines(text).items()}, str(path), text)


def _read(path: Path) -> str:
    try:
        raw = read_once(path, _FILE_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(
            f"cannot read the configuration file: {error.strerror}",
            where=str(path),
            remedy="give --config a file that exists and that you may read",
        ) from error
    if len(raw) > _FILE_BYTES_MAX:
        raise ConfigError(
            f"the configuration file is larger than {_FILE_BYTES_MAX} bytes",
            where=str(path),
            remedy="check that this is the right file",
        )
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("the file is not UTF-8", where=f"{path}:{line}", remedy="save it as UTF-8") from error


def _syntax_error(message: str, text: str) -> tuple[str, int]:
    """tomllib's message without its place, and the line; some problems show only at the end."""
    match = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    if match is None or match[1] is None:
        return message[: match.start()] if match else message, len(text.splitlines()) or 1
    return message[: match.start()], int(match[1])


def environment_layer(environment: Mapping[str, str]) -> Layer:
    """``LAPWING_BROKER__SHARDS=2`` sets ``broker.shards``: ``__`` separates levels, case does not count.

    Variables without two underscores (``LAPWING_SPARK_HOME``, say) belong to other tools and are left alone.
    """
    layer = Layer()
    for name, text in sorted(environment.items()):
        if name.upper().startswith(ENVIRONMENT_PREFIX) and "__" in name[len(ENVIRONMENT_PREFIX) :]:
            path = tuple(name[len(ENVIRONMENT_PREFIX) :].lower().split("__"))
            place = f"environment {name}"
            layer.put(path, parse_text(text, place), place)
    return layer


def flag_layer(settings: Iterable[str], named: Mapping[str, tuple[str, object]] | None = None) -> Layer:
    """``--set KEY=VALUE`` texts, then flags with a name of their own (key -> (flag, value)), which win.

    A part of a key may stand in quotes, as in a file: ``hold."alarms/#".expiry=1h``.

    Raises:
        ConfigError: a text without ``=``, or with a key that is none; every one of them is listed.
    """
    layer = Layer()
    problems: list[LapwingError] = []
    for setting in settings:
        path, text = _key_and_text(setting)
        place = f"flag --set {without_secrets(setting)}"
        if not path:
            what = f"--set {without_secrets(setting)!r} is not KEY=VALUE"
            problems.append(LapwingError(what, remedy="write --set broker.shards=2"))
            continue
        layer.put(path, parse_text(text, place), place)
    if problems:
        raise ConfigError("wrong flags", problems=problems)
    for key, (flag, value) in (named or {}).items():
        layer.put(tuple(key.split(".")), value, f"flag {flag}")
    return layer


def _key_and_text(setting: str) -> tuple[KeyPath, str]:
    """The parts of ``KEY=VALUE``; no key where it is none."""
    path, at = [], 0
    while part := _KEY_PART.match(setting, at):
        path.append(part[1] or part[2] or part[3].strip())
        at = part.end()
        if part[4] == "=":
            return (tuple(path), setting[at:]) if all(path) else ((), "")
    return (), ""


def parse_text(text: str, place: str) -> object:
    """A list or an inline table where the text begins like one; the text itself otherwise.

    Raises:
        ConfigError: begins like a list or table and is not one.
    """
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        message, _ = _syntax_error(str(error), text)
        raise ConfigError(
            f"{without_secrets(text)!r} is not a TOML list or table: {message}",
            where=place,
            remedy='write ["a", "b"] or {a = 1}',
        ) from error
