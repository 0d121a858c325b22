"""Runs a swarm in this process or in several, shows how far it is, and makes one report of all parts."""

from __future__ import annotations

import json
import time
from typing import Any, Protocol

from lapwing import _core
from lapwing.cli.swarm_progress import SwarmProgress
from lapwing.client.failures import core_failures
from lapwing.client_url import without_user

_LOOK_S = 0.02
_WAIT_S = 0.25
"""Longest wait inside Rust at a time: the bar moves and Ctrl-C is heard in between. Not shorter: each look may
interrupt a thread of the swarm, and so show in the latencies."""


class Part(Protocol):
    """A run, or its part in one process: what ``_core.Swarm`` is."""

    def is_ready(self) -> bool:
        """True when every client is connected and subscribed."""

    def go(self, start_ns: int | None = None) -> None:
        """Lets the messages begin."""

    def progress_json(self) -> str:
        """How far it is."""

    def wait(self, timeout_s: float) -> bool:
        """Waits until nothing more will arrive, up to so long; true when that is so."""

    def cancel(self) -> None:
        """Publishes no more."""

    def finish_json(self) -> str:
        """Ends and gives the raw figures."""


def run_swarm(profile: dict[str, Any], processes: int, *, quiet: bool) -> tuple[dict[str, Any], bool]:
    """Runs ``profile``; gives the report, and whether Ctrl-C ended it early.

    Args:
        profile: As ``_core.Swarm`` takes it, without ``worker``, ``workers`` and ``sources``.
        processes: How many processes share the run.
        quiet: Show no progress.
    Raises:
        ConfigError: a wrong setting, or more clients than files.
        ConnectError: nobody answers there.
        TimedOutError: not every client was ready in time.
    """
    whole = profile | {"workers": processes}
    with core_failures(without_user(profile["url"])), SwarmProgress(profile, quiet=quiet) as shown:
        outcomes, interrupted = _run_parts(whole, processes, shown)
        report = _core.swarm_report_json(json.dumps(whole), outcomes)
    return json.loads(report) | {"processes": processes}, interrupted


def _run_parts(whole: dict[str, Any], processes: int, shown: SwarmProgress) -> tuple[list[str], bool]:
    if processes == 1:
        return _run_part(_core.Swarm(json.dumps(whole)), shown)
    # A report of nothing checks every setting, before a process is started for what is refused.
    _core.swarm_report_json(json.dumps(whole), [])
    from lapwing.cli.swarm_workers import Workers

    with Workers(whole, processes) as workers:
        outcomes, interrupted = _run_part(workers, shown)
    return json.loads(outcomes[0]), interrupted


def _run_part(part: Part, shown: SwarmProgress) -> tuple[list[str], bool]:
    """From the first connection to the last arrival; gives the raw figures."""
    while not part.is_ready():
        shown.arriving(json.loads(part.progress_json()))
        time.sleep(_LOOK_S)
    part.go()
    shown.begin()
    try:
        _watch(part, shown)
        interrupted = False
    except KeyboardInterrupt:
        part.cancel()
        _watch(part, shown)
        interrupted = True
    return [part.finish_json()], interrupted


def _watch(part: Part, shown: SwarmProgress) -> None:
    while not part.wait(_WAIT_S):
        shown.running(json.loads(part.progress_json()))
