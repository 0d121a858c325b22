"""Files of keys, authorities and secrets that settings name: read whole, and nothing of them in an error."""

from __future__ import annotations

import re
from pathlib import Path

from lapwing.errors import ConfigError
from lapwing.regular_file import open_file

_FILE_BYTES_MAX = 1 << 20
_MARKS = re.compile("^\ufeff+", re.MULTILINE)


def text_of_file(file: Path, key: str) -> str:
    """The text of a file that ``key`` names, without the marks of encoding that editors put in front of lines.

    Raises:
        ConfigError: it cannot be read, is too long, or is no text.
    """
    try:
        return _MARKS.sub("", read_key_file(file, key).decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is no text", where=key, remedy="write PEM or JSON into it") from None


def read_key_file(file: Path, key: str) -> bytes:
    """The bytes of a file that ``key`` names; nothing of them is in an error.

    Raises:
        ConfigError: it cannot be read, or is too long.
    """
    try:
        with open_file(file) as opened:
            found = opened.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be read: {error.strerror}", where=key, remedy="check the path, and who may read it"
        ) from error
    if len(found) > _FILE_BYTES_MAX:
        raise ConfigError(f"{file} is longer than {_FILE_BYTES_MAX} bytes", where=key, remedy="name a file of keys")
    return found
