"""Whether the tables of a folder belong together: none is gone, none is older than it was.

After each batch a file beside the tables says which version each had. A table that was taken away, or put back from an
older copy, has a lower one: a job that went on would miss what the others have, and nobody would see it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from lapwing.pipeline.errors import TableError

FILE = ".versions.json"


def write_versions(tables: Path, versions: Mapping[str, int]) -> None:
    """Writes down which version each table has; whoever is killed before has an older word, which is true as well."""
    part = tables / f"{FILE}.part"
    part.write_text(json.dumps(dict(sorted(versions.items()))), encoding="utf-8")
    os.replace(part, tables / FILE)


def check_gone(tables: Path) -> None:
    """Raises `TableError` where a table that was written here is not there any more, and others are."""
    said = _said(tables)
    gone = sorted(name for name in said if not (tables / name / "_delta_log").is_dir())
    if gone and len(gone) == len(said):
        (tables / FILE).unlink()  # somebody begins anew
    elif gone:
        raise TableError(
            f"table {', '.join(gone)} is gone, and the others are there",
            where=str(tables),
            remedy="bring it back, or remove the whole folder and the checkpoint to begin anew",
        )


def check_older(tables: Path, versions: Mapping[str, int]) -> None:
    """Raises `TableError` where a table has a lower version than it had."""
    said = _said(tables)
    older = sorted(name for name, version in versions.items() if version < said.get(name, 0))
    if older:
        told = ", ".join(f"{name} (version {versions[name]}, it was {said[name]})" for name in older)
        raise TableError(
            f"table {told} is older than the others",
            where=str(tables),
            remedy="bring back the one that belongs to them, or begin anew: remove the whole folder and the checkpoint",
        )


def _said(tables: Path) -> dict[str, int]:
    try:
        found = json.loads((tables / FILE).read_text(encoding="utf-8"))
        return {str(name): int(version) for name, version in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError, TypeError):
        raise TableError(
            f"{FILE} says nothing that can be read", where=str(tables), remedy="remove it if the tables are all there"
        ) from None
