"""One process of a swarm that is spread over several; started by ``swarm_workers``, not by people.

Reads JSON lines: the profile, then ``{"go": START_NS}``, perhaps ``{"cancel": true}``, and ``{"end": true}``: no
process knows what the others still send, so the parent decides. Writes JSON lines, each with one key of ``Line``.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from lapwing import _core

Line: TypeAlias = Literal["progress", "ready", "outcome", "error"]
_LOOK_S = 0.05
_SHOW_EVERY_S = 0.2


def main() -> int:
    """Runs one part; gives the exit code."""
    try:
        _run(_core.Swarm(sys.stdin.readline()))
    except _core.CoreError as error:
        _say("error", {"code": error.code, "message": error.message, "remedy": error.remedy})
        return 1
    return 0


def _run(swarm: _core.Swarm) -> None:
    while not swarm.is_ready():
        _say("progress", json.loads(swarm.progress_json()))
        time.sleep(_LOOK_S)
    _say("ready", True)
    order = json.loads(sys.stdin.readline() or "{}")
    if "go" not in order:
        return  # the parent has gone, or another worker could not come in
    swarm.go(order["go"])
    ended = threading.Event()
    threading.Thread(target=_heed, args=(swarm, ended), daemon=True).start()
    while not ended.is_set() and not swarm.wait(_SHOW_EVERY_S):
        _say("progress", json.loads(swarm.progress_json()))
    _say("outcome", json.loads(swarm.finish_json()))


def _heed(swarm: _core.Swarm, ended: threading.Event) -> None:
    """Cancels when told so; ends when told so, or when the parent is gone."""
    while "cancel" in json.loads(sys.stdin.readline() or "{}"):
        with suppress(_core.CoreError):  # it could not go on, and is over
            swarm.cancel()
    ended.set()


def _say(kind: Line, value: Any) -> None:
    print(json.dumps({kind: value}), flush=True)  # noqa: T201 (this is its protocol)


if __name__ == "__main__":
    sys.exit(main())
