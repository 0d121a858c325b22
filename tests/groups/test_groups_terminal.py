"""`lapwing groups` on a terminal: in colour, drawn again in place, ended by Ctrl-C."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time

import pytest
from commands import LAPWING, clean_environment
from over_http import DEADLINE_S, Groups

from lapwing import Broker

pytestmark = pytest.mark.lapwing(http="127.0.0.1:0", groups={"alarms": {"filters": ["alarms/#"]}})
ALTERNATE_SCREEN = b"\x1b[?1049h"


class Terminal:
    """A command with a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = clean_environment(TERM="xterm-256color", COLUMNS="160", LINES="40")
        self.process = subprocess.Popen(
            [*LAPWING, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self.shown = b""

    def until(self, text: bytes, times: int = 1) -> None:
        until = time.monotonic() + DEADLINE_S
        while self.shown.count(text) < times:
            assert time.monotonic() < until, self.shown
            if select.select([self._ours], [], [], 0.1)[0]:
                self.shown += os.read(self._ours, 65_536)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def test_watch_draws_in_place_until_ctrl_c(lapwing_broker: Broker, groups: Groups) -> None:
    """Is the table there more than once on a screen of its own, and the exit code that of Ctrl-C?"""
    groups.until("alarms", lambda group: True)
    terminal = Terminal("groups", "--watch", "--url", lapwing_broker.http_url)
    try:
        terminal.until(b"alarms/#", times=2)
        assert ALTERNATE_SCREEN in terminal.shown
        terminal.process.send_signal(2)
        assert terminal.process.wait(DEADLINE_S) == 130
    finally:
        terminal.close()


def test_once_is_a_table_in_colour(lapwing_broker: Broker, groups: Groups) -> None:
    groups.until("alarms", lambda group: True)
    terminal = Terminal("groups", "--url", lapwing_broker.http_url)
    try:
        terminal.until(b"in time, durable")
        assert b"\x1b[1m" in terminal.shown
        assert terminal.process.wait(DEADLINE_S) == 0
    finally:
        terminal.close()
