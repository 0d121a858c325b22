"""Does a storm of SIGHUPs cost one reload, and is the SIGTERM behind it heard?"""

from __future__ import annotations

import signal

from lapwing.cli.received import Received


def test_reloads_that_wait_are_one() -> None:
    received = Received()
    assert received.get(0) is None
    for _ in range(1_000):
        received.put(signal.SIGHUP)
    received.put(signal.SIGTERM)
    assert [received.get(0) for _ in range(3)] == [signal.SIGHUP, signal.SIGTERM, None]


def test_one_that_comes_during_a_reload_is_another() -> None:
    received = Received()
    received.put(signal.SIGHUP)
    assert received.get(0) == signal.SIGHUP
    received.put(signal.SIGHUP)
    assert received.get(0) == signal.SIGHUP
