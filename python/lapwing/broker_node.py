"""The node of a broker, as its Python side holds it: what it raises, and how it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lapwing._core import CoreError
from lapwing.errors import BrokerError, from_core

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.config import Config


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


@contextlib.contextmanager
def start_errors(config: Config) -> Iterator[None]:
    """As `core_errors`, for a start: what will be as wrong at the next one is told by its class, and its exit code.

    Raises:
        LapwingError: what the block raised as ``CoreError``.
    """
    try:
        with core_errors():
            yield
    except BrokerError as error:
        # Only now that something is wrong is it looked at again from outside.
        from lapwing.rehearsal.lasting import lasting_kind

        kind = lasting_kind(error, config)
        if kind is None:
            raise
        raise kind(error.what, where=error.where, remedy=error.remedy) from error


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
