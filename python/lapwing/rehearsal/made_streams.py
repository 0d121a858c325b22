"""Whether the streams of a data folder are as the configuration has them: partitions are fixed when one is made."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import DataFolderError, LapwingError

if TYPE_CHECKING:
    from lapwing.config import Config

_META = struct.Struct("<I9xB66xI")
"""Of a stream's description (crates/store/src/record): the magic, the kind, and the partitions."""
_MAGIC, _STREAM = 0x3152774C, 4


def stream_faults(config: Config) -> Iterator[LapwingError]:
    """One for each stream that was made with other partitions; what cannot be read is left to who opens it."""
    for name, stream in config.streams.items():
        folder = config.broker.data / "streams" / name
        made = _partitions(folder)
        if made is not None and made != stream.partitions:
            what = f"streams.{name}.partitions = {stream.partitions}, and the stream was made with {made}"
            remedy = f"set partitions = {made}, or give the stream another name, or delete the folder"
            yield DataFolderError(what, where=str(folder), remedy=remedy)


def _partitions(folder: Path) -> int | None:
    """Those that a stream was made with; None: nothing was ever kept, or it is not to be read."""
    try:
        if not any(folder.glob("*.log")):
            return None  # it is made anew
        magic, kind, partitions = _META.unpack((folder / "meta").read_bytes()[: _META.size])
    except (OSError, struct.error):
        return None
    return int(partitions) if (magic, kind) == (_MAGIC, _STREAM) else None
