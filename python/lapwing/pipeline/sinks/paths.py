"""Paths of tables: which ones can be, and what a table's files are called on disk.

Delta's logs hold URIs, in which a space is ``%20``. A path is a path: whoever opens a file decodes it here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from deltalake import DeltaTable

from lapwing.errors import ConfigError
from lapwing.pipeline.sinks.doors import is_odd

_NAME_BYTES_MAX = 255
_PATH_BYTES_MAX = 3_800
"""What the system takes is 4,095, with the names of tables, days and files below the folder."""


def check_folder(flag: str, folder: Path, *, on_cluster: bool = False) -> None:
    """Raises `ConfigError` where no table can be below ``folder``, which ``flag`` names.

    ``on_cluster``: Others than this machine open it by its path.
    """
    whole = os.fsencode(folder.absolute())
    for limit, found_bytes in ((_NAME_BYTES_MAX, max(map(len, whole.split(b"/")))), (_PATH_BYTES_MAX, len(whole))):
        if found_bytes > limit:
            raise ConfigError(
                f"{flag} has {found_bytes} bytes in {'one name' if limit == _NAME_BYTES_MAX else 'all'}",
                where=f"{ascii(str(folder))[:60]}...",
                remedy=f"give a {flag} of at most {_PATH_BYTES_MAX} bytes, {_NAME_BYTES_MAX} in each name",
            )
    try:
        whole.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{flag} has a byte 0x{whole[error.start]:02x} in its path, which is no UTF-8: Arrow and Java have no such"
            " paths",
            where=ascii(str(folder)),
            remedy=f"give a {flag} in UTF-8",
        ) from None
    if on_cluster and is_odd(folder):
        raise ConfigError(
            f"{flag} has a path that delta-rs cannot open, and on a cluster no link of this machine helps",
            where=ascii(str(folder)),
            remedy=f"give a {flag} without control characters, [ ] ^ | \\ and % before two hexadecimal digits",
        )


def table_files(table: DeltaTable, folder: Path) -> list[Path]:
    """The files that make up ``table`` now, which lies at ``folder``."""
    root = urlsplit(table.table_uri).path
    return [_on_disk(uri, root, folder) for uri in table.file_uris()]


def partitions_by_file(table: DeltaTable, folder: Path) -> dict[Path, dict[str, Any]]:
    """By file of ``table``, which lies at ``folder``: its values of the columns that the table is partitioned by.

    They stand in the table's log. Only some writers put them into the files as well.
    """
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    names = table.metadata().partition_columns
    return {_named(action["path"], folder): {name: action[f"partition.{name}"] for name in names} for action in actions}


def _named(path: str, folder: Path) -> Path:
    """A file as the table's log names it: relative to the table, or a URI where the table was cloned."""
    return folder / unquote(urlsplit(path).path if "://" in path else path)


def _on_disk(uri: str, root: str, folder: Path) -> Path:
    """delta-rs encodes the table's own place, and has decoded what its log says of the file."""
    if uri.startswith(root):
        return folder / uri.removeprefix(root)
    # A file elsewhere, of a table that was cloned.
    return Path(unquote(urlsplit(uri).path))
