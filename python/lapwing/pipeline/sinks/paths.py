"""Paths of tables: which ones can be, and what a table's files are called on disk.

Delta's logs hold URIs, in which a space is ``%20``. A path is a path: whoever opens a file decodes it here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from deltalake import DeltaTable

from lapwing.errors import ConfigError

_NO_FOLDER = re.compile(r"[\x00-\x1f\x7f\[\]^|\\]|%[0-9A-Fa-f]{2}|[\ud800-\udfff]")
"""What delta-rs cannot open (1.x: it reads some paths as URIs twice); found by trying every character."""


_NAME_BYTES_MAX = 255
_PATH_BYTES_MAX = 3_800
"""What the system takes is 4,095, with the names of tables, days and files below the folder."""


def check_folder(flag: str, folder: Path) -> None:
    """Raises `ConfigError` where no table can be below ``folder``, which ``flag`` names."""
    whole = os.fsencode(folder.absolute())
    for limit, found_bytes in ((_NAME_BYTES_MAX, max(map(len, whole.split(b"/")))), (_PATH_BYTES_MAX, len(whole))):
        if found_bytes > limit:
            raise ConfigError(
                f"{flag} has {found_bytes} bytes in {'one name' if limit == _NAME_BYTES_MAX else 'all'}",
                where=f"{ascii(str(folder))[:60]}...",
                remedy=f"give a {flag} of at most {_PATH_BYTES_MAX} bytes, {_NAME_BYTES_MAX} in each name",
            )
    found = _NO_FOLDER.search(str(folder.absolute()))
    if found is not None:
        raise ConfigError(
            f"{flag} has {found[0]!a} in its path, which Delta tables cannot have",
            where=ascii(str(folder)),
            remedy=f"give a {flag} without control characters, [ ] ^ | \\ and % before two hexadecimal digits",
        )


def table_files(table: DeltaTable, folder: Path) -> list[Path]:
    """The files that make up ``table`` now, which lies at ``folder``."""
    root = urlsplit(table.table_uri).path
    return [_on_disk(uri, root, folder) for uri in table.file_uris()]


def _on_disk(uri: str, root: str, folder: Path) -> Path:
    """delta-rs encodes the table's own place, and has decoded what its log says of the file."""
    if uri.startswith(root):
        return folder / uri.removeprefix(root)
    # A file elsewhere, of a table that was cloned.
    return Path(unquote(urlsplit(uri).path))
