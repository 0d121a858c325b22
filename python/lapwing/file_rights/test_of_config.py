"""Which files a configuration makes the broker believe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from lapwing import _core
from lapwing.config import Config
from lapwing.file_rights.of_config import believed_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Without links on the way to it."""
    return tmp_path.resolve()


def test_files_of_a_configuration(folder: Path) -> None:
    """Is every file that decides named with its key, and are those secret that are?"""
    config = Config(
        auth={"users": folder / "users.toml"},  # type: ignore[arg-type]
        listeners=[
            {  # type: ignore[list-item]
                "url": "tls://127.0.0.1:0",
                "certificate": folder / "c.pem",
                "key": folder / "k.pem",
                "client_ca": folder / "ca.pem",
                "crl": folder / "revoked.pem",
                "client_certificate": "required",
            },
            {"url": "sns://127.0.0.1:0", "psk": folder / "keys"},  # type: ignore[list-item]
        ],
        http={"certificate": folder / "both.pem", "client_ca": folder / "ca.pem", "crl": folder / "taken.pem"},  # type: ignore[arg-type]
        groups={"alarms": {"use": "lapwing.strategy.base:Strategy"}},  # type: ignore[dict-item]
    )
    believed = [file for file in believed_files(config, folder / "lapwing.toml") if file.path.suffix != ".pyc"]
    found = {file.key: (file.path.name, file.is_secret) for file in believed}
    assert found == {
        "--config": ("lapwing.toml", False),
        "auth.users": ("users.toml", True),
        "listeners.0.certificate": ("c.pem", False),
        "listeners.0.key": ("k.pem", True),
        "listeners.0.client_ca": ("ca.pem", False),
        "listeners.0.crl": ("revoked.pem", False),
        "listeners.1.psk": ("keys", True),
        "http.certificate": ("both.pem", True),
        "http.client_ca": ("ca.pem", False),
        "http.crl": ("taken.pem", False),
        'groups."alarms".use': ("base.py", False),
    }


NOT_BELIEVED = {
    "broker.data": "a folder, which is judged by itself",
    "audit.file": "written, and what is in it decides nothing",
    "bridge.*": "another program's",
}
"""What names a file, and is none that the broker believes."""


def file_keys(kind: Any, key: str = "") -> Iterator[str]:
    """Keys of the model that name files; of a list or a table of tables those of its first."""
    if kind is Path:
        yield key
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            yield from file_keys(field.annotation, f"{key}.{name}" if key else name)
    for inner in get_args(kind):
        has_tables = isinstance(inner, type) and issubclass(inner, BaseModel) and kind != inner | None
        yield from file_keys(inner, f"{key}.0" if has_tables else key)


def test_every_key_that_names_a_file_is_judged_or_known_not_to_be() -> None:
    """A new one is in the node's list, or in the one above."""
    keys = {"bridge.*" if key.startswith("bridge.") else key for key in file_keys(Config)}
    believed = {key for _, key, _ in _core.believed_files(None, 1, {key: ["x"] for key in keys})}
    assert keys - believed == set(NOT_BELIEVED)
    assert {"auth.jwt.key_files", "listeners.0.crl", "http.key"} < believed
