"""The normative statements, read from the TOML files beside this one, for the tests and for tools/conformance.py."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
VERSIONS = {4: "3.1.1", 5: "5.0"}
"""Protocol level and name; the folders are named `v3.1.1` and `v5`."""
_FOLDERS = {4: "v3.1.1", 5: "v5"}
BINDS = ("server", "client", "both")


@dataclass(frozen=True)
class Statement:
    """One statement: who is bound by it, and what it asks, in our words.

    `moot`: why it cannot be broken here, if it cannot; such a statement needs no test.
    """

    id: str
    version: int
    chapter: str
    binds: str
    text: str
    moot: str | None = None

    @property
    def binds_server(self) -> bool:
        return self.binds != "client"


def load() -> dict[tuple[int, str], Statement]:
    """All statements by version and id, in the order of the specifications."""
    found: dict[tuple[int, str], Statement] = {}
    for version, folder in _FOLDERS.items():
        for file in sorted((FOLDER / folder).glob("*.toml"), key=lambda file: int(file.name.partition("-")[0])):
            for key, row in tomllib.loads(file.read_text())["statements"].items():
                statement = Statement(key, version, file.stem, **row)
                assert statement.binds in BINDS, f"{file}: {key} binds {statement.binds}"
                assert (version, key) not in found, f"{file}: {key} twice"
                found[version, key] = statement
    return found
