"""A start that takes a while says how much of the log it has read: a bar on a terminal, elsewhere notices."""

from __future__ import annotations

import re
import sys
import threading
from io import StringIO
from pathlib import Path

import pytest

from lapwing import Broker, Client
from lapwing.cli.start_progress import start_told
from lapwing.cli.store_lines import size

DEADLINE_S = 30.0


class Terminal(StringIO):
    """A file that says it is one."""

    def isatty(self) -> bool:
        return True


def kept_broker(data: Path) -> Broker:
    """One whose sessions are on disk here."""
    return Broker(data=data, shards=2)


@pytest.fixture
def small_log(tmp_path: Path) -> Path:
    """A folder in which messages wait."""
    with kept_broker(tmp_path) as broker:
        with Client(broker.url, client_id="away", clean_start=False, session_expiry_s=3_600) as away:
            away.subscribe("t", qos=1)
        with Client(broker.url, client_id="publisher") as publisher:
            for number in range(100):
                publisher.publish("t", b"%0100d" % number, qos=1)
            publisher.flush()
    return tmp_path


def test_a_start_tells_the_bytes_of_the_log(small_log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Do the notices of a real start end with all of its bytes read?"""
    broker = kept_broker(small_log)
    assert broker.start_progress() == (0, 0)
    try:
        with start_told(broker.start_progress, after_s=0.0):
            broker.start()
        done, total = broker.start_progress()
    finally:
        broker.stop()
    assert done == total > 100 * 100, "the messages' bytes are among them"
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1] == f"notice: reading the log: {size(total)} of {size(total)}"


def test_a_quick_start_says_nothing(small_log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broker = kept_broker(small_log)
    with start_told(broker.start_progress, after_s=DEADLINE_S):
        broker.start()
    broker.stop()
    assert capsys.readouterr().err == ""


def test_notices_come_while_the_start_reads(capsys: pytest.CaptureFixture[str]) -> None:
    """Is each a look of its own, until the start is over, and is nothing said before there is something to read?"""
    looks = [(0, 0), (0, 4096), (1024, 4096), (4096, 4096)]
    looked = threading.Event()

    def progress() -> tuple[int, int]:
        if len(looks) == 2:
            looked.set()
        return looks.pop(0) if len(looks) > 1 else looks[0]

    with start_told(progress, after_s=0.0, line_every_s=0.001):
        assert looked.wait(DEADLINE_S)
    told = [line.removeprefix("notice: reading the log: ") for line in capsys.readouterr().err.splitlines()]
    assert told[:2] == ["0 B of 4.0 KiB", "1.0 KiB of 4.0 KiB"]
    assert set(told[2:]) == {"4.0 KiB of 4.0 KiB"}


def test_a_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with start_told(lambda: (3 << 20, 4 << 20), after_s=0.0):
        pass
    assert "reading the log" in terminal.getvalue()
    assert re.search(r"3\.1/4\.2 MB", terminal.getvalue())
    assert "notice" not in terminal.getvalue()
