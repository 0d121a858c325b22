"""Which files of certificates, authorities, revocation lists and keys hold something else than before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing._core import files_digest

if TYPE_CHECKING:
    from lapwing.config import Config
    from lapwing.config.http import HttpSection
    from lapwing.config.listeners import ListenerConfig

_KEYS = ("certificate", "key", "client_ca", "psk")


class KeyFiles:
    """Those of every listener, HTTP's too, as they are now: a number stands for what is in them, as for `lapwingd`."""

    def __init__(self, config: Config) -> None:
        self._digests = {place: files_digest(files) for place, files in _files(config) if files}

    def changes_to(self, now: KeyFiles) -> list[str]:
        """The listeners whose files are others now, by URL; ``http`` for HTTP's."""
        return [name for (number, name), digest in now._digests.items() if self._digests.get((number, name)) != digest]


def _files(config: Config) -> Iterator[tuple[tuple[int, str], list[Path]]]:
    places: list[tuple[str, ListenerConfig | HttpSection]] = [(one.url, one) for one in config.listeners]
    places.append(("http", config.http))
    for number, (name, section) in enumerate(places):
        named = [getattr(section, key, None) for key in _KEYS]
        yield (number, name), [*(file for file in named if file is not None), *section.crl]
