"""Says how far a broker's start has come with reading its log, where that takes a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from lapwing.cli.bytes_bar import BytesBar
from lapwing.cli.common import notice
from lapwing.cli.store_lines import size

Progress = Callable[[], tuple[int, int]]
Tell = Callable[[str], None]

_AFTER_S = 1.0
_LINE_EVERY_S = 5.0
_BAR_EVERY_S = 0.25


@contextmanager
def start_told(
    progress: Progress, *, tell: Tell = notice, after_s: float = _AFTER_S, line_every_s: float = _LINE_EVERY_S
) -> Iterator[None]:
    """Around a start: shows a bar on a terminal, and writes notices to standard error elsewhere.

    Args:
        progress: Bytes that were read, and bytes to read, 0 while that is not known; called in a thread of its own,
            which the start lets run.
        tell: Prints a notice.
        after_s: A start that takes less says nothing.
        line_every_s: Time between two notices.
    """
    over = threading.Event()
    watcher = threading.Thread(
        target=_watch, args=(progress, tell, over, after_s, line_every_s), name="lapwing-start", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _watch(progress: Progress, tell: Tell, over: threading.Event, after_s: float, line_every_s: float) -> None:
    begun = time.monotonic()
    over.wait(after_s)
    if time.monotonic() - begun < after_s:
        return
    with BytesBar("reading the log") as bar:
        show, every_s = (bar.show, _BAR_EVERY_S) if bar.is_shown else (partial(_write, tell), line_every_s)
        show(*progress())
        while not over.wait(every_s):
            show(*progress())
        show(*progress())


def _write(tell: Tell, done: int, total: int) -> None:
    if total:
        tell(f"reading the log: {size(done)} of {size(total)}")
