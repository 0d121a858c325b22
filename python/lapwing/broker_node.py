"""The node of a broker, as its Python side holds it: what it raises, and how it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lapwing._core import CoreError
from lapwing.errors import from_core

if TYPE_CHECKING:
    from lapwing._core import Node


@contextlib.contextmanager
def core_errors() -> Iterator[None]:
    """The Rust side's messages name file, folder or address themselves.

    Raises:
        LapwingError: what the block raised as ``CoreError``.
    """
    try:
        yield
    except CoreError as error:
        raise from_core(error) from error


@core_errors()
def end(node: Node | None, drain_s: float) -> None:
    """Stops ``node``, if there is one; its clients are let go in order first, for at most ``drain_s`` seconds.

    Raises:
        LapwingError: it could not end as it should.
    """
    if node is None:
        return
    try:
        if drain_s > 0:
            node.drain(drain_s)
    finally:
        node.stop()
