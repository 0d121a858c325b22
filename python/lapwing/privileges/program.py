"""The program itself, for a process that may soon not read it any more: Python in root's own folder, say."""

from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path

_PACKAGES = (
    "lapwing.auth",
    "lapwing.config",
    "lapwing.file_rights",
    "lapwing.hooks",
    "lapwing.http",
    "lapwing.strategy",
)
_LOADED_LATE = (
    "anyio._backends._asyncio",
    "anyio._core",  # each name of it is loaded when it is asked for
    "anyio.to_thread",
    "encodings.idna",  # a host name is looked up
    "lapwing.rehearsal.lasting",  # a start fails
    "uvicorn.lifespan.off",
    "uvicorn.loops.asyncio",
    "uvicorn.protocols.http.h11_impl",
)


def load_ahead() -> None:
    """Loads what a broker otherwise loads when it first needs it: at a reload, or a request over HTTP."""
    for name in (*_PACKAGES, *_LOADED_LATE):
        loaded = importlib.import_module(name)
        for found in pkgutil.iter_modules(getattr(loaded, "__path__", ()), f"{name}."):
            if not found.name.rpartition(".")[2].startswith("test_"):
                importlib.import_module(found.name)


def unreadable_program() -> str:
    """What of this program, or of its Python, the effective account may not read; empty: nothing."""
    places = (Path(__file__), Path(os.__file__))
    return next((str(path) for path in places if not os.access(path, os.R_OK, effective_ids=True)), "")
