"""Whether the streams of a data folder are as the configuration has them: partitions are fixed when one is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lapwing._core import made_partitions
from lapwing.errors import DataFolderError, LapwingError

if TYPE_CHECKING:
    from lapwing.config import Config


def stream_faults(config: Config) -> Iterator[LapwingError]:
    """One for each stream that was made with other partitions; what cannot be read is left to who opens it."""
    for name, stream in config.streams.items():
        made = made_partitions(config.broker.data, name)
        if made is not None and made != stream.partitions:
            what = f"streams.{name}.partitions = {stream.partitions}, and the stream was made with {made}"
            remedy = f"set partitions = {made}, or give the stream another name, or delete the folder"
            yield DataFolderError(what, where=str(config.broker.data / "streams" / name), remedy=remedy)
