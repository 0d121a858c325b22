"""What a unit must know of the configuration that it starts a broker with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lapwing.config.load import load_what_is_right
from lapwing.errors import ConfigError

_UNIX = "unix://"


@dataclass(frozen=True)
class Needs:
    """What a configuration asks of its machine.

    Attributes:
        data: The data folder that it names, a whole path; None: it names none.
        drain_s: How long a stop may take until clients are let go.
        sockets: Folders of Unix sockets.
        trail: The folder of the audit trail; None: there is none.
    """

    data: Path | None = None
    drain_s: int = 10
    sockets: tuple[Path, ...] = ()
    trail: Path | None = None


def needs_of(config: Path, there: Path) -> Needs:
    """What the configuration at ``config`` needs.

    Args:
        config: Its whole path on the machine of the unit.
        there: Where it can be read now, below another root say.

    Raises:
        ConfigError: it cannot be read.
    """
    loaded = load_what_is_right(there).loaded
    if loaded is None:
        raise ConfigError("it is wrong", where=str(there), remedy=f"see lapwing config check {there}")
    found = loaded.config
    urls = [*found.broker.listen, *(listener.url for listener in found.listeners)]
    paths = [Path(url.removeprefix(_UNIX)) for url in urls if url.startswith(_UNIX)]
    file = found.audit.file
    return Needs(
        _moved(found.broker.data, there, config) if "data" in found.broker.model_fields_set else None,
        -(-found.broker.drain // 1000),
        tuple(dict.fromkeys(path.parent for path in paths)),
        None if file is None else _moved(file, there, config).parent,
    )


def _moved(path: Path, there: Path, config: Path) -> Path:
    """A path that was relative to the file ``there``, relative to ``config``; any other one as it is."""
    return config.parent / path.relative_to(there.parent) if path.is_relative_to(there.parent) else path
