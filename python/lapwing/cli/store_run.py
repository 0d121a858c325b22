"""Runs a job on a data folder: its events as they come, a bar on a terminal, errors of the one tree."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from lapwing.cli.bytes_bar import BytesBar
from lapwing.errors import from_core

Event = dict[str, Any]
Tell = Callable[[str], object]
Result = TypeVar("Result")


def run_job(job: Callable[[Tell], Result], on_event: Callable[[Event], object], *, bar: str = "") -> Result:
    """Runs ``job`` and gives ``on_event`` each event; something true from there breaks it off.

    Args:
        job: One of ``lapwing._core``'s, waiting for whom to tell.
        on_event: Called in this thread.
        bar: What the bar on a terminal says; nothing: no bar.

    Raises:
        LapwingError: what kept the job from its end.
    """
    from lapwing._core import CoreError

    with BytesBar(bar) as progress:

        def tell(text: str) -> object:
            event: Event = json.loads(text)
            _note(progress, event)
            return on_event(event)

        try:
            return job(tell)
        except CoreError as error:
            raise from_core(error) from error


def _note(bar: BytesBar, event: Event) -> None:
    """Moves the bar by what a job tells."""
    if event["event"] == "begin":
        bar.begin(event["bytes"])
    elif event["event"] in ("file", "copied"):
        bar.advance(event["bytes"])
