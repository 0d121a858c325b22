"""Is each line printed at its level, in each format as one, and is the disk spoken of once?"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import socket
import struct
import threading
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

from lapwing.config.log import LogSection
from lapwing.errors import ConfigError
from lapwing.log.disk_watch import LOOK_EVERY_S, DiskWatch
from lapwing.log.journal import Journal, entry, is_standard_error
from lapwing.log.line import LogLine
from lapwing.log.printer import LogPrinter, printer_of
from lapwing.log.standard_error import StandardError

FORGED = "x\nnotice: forged \x1b[2J\u202e"


def test_levels_are_by_subject() -> None:
    got: list[LogLine] = []
    printer = LogPrinter(got.append, LogSection(level="notice", levels={"clients": "info", "refused": "off"}))
    lines = [LogLine("clients", "info", "a"), LogLine("group", "info", "b"), LogLine("refused", "warning", "c")]
    for line in [*lines, LogLine("disk", "warning", "d")]:
        printer.line(line)
    assert [line.text for line in got] == ["a", "d"]
    printer.step("draining")
    assert got[-1].text == "draining", "its end is told in any case"


def test_lines_of_the_node_have_levels() -> None:
    assert LogLine.of_node("clients", False, "x").level == "info"
    assert LogLine.of_node("disk", True, "x").level == "warning"
    assert LogLine.of_node("refused", False, "x").level == "notice"
    assert LogLine.of_node("clients", False, "x", '{"bytes_in": 7}').facts == {"bytes_in": 7}


def test_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("text", "json"):
        printer = printer_of(LogSection(format=form))
        printer.line(LogLine("disk", "warning", "full"))
        printer.notice(FORGED)
        printer.line(LogLine("clients", "info", "gone", {"client_id": FORGED, "reason_code": 142}))
    text, forged, gone, *documents = capsys.readouterr().err.splitlines()
    assert (text, forged) == ("notice: full", r"notice: x\nnotice: forged \x1b[2J\u202e")
    first, second, third = map(json.loads, documents)
    assert gone == "info: gone"
    assert (third["client_id"], third["reason_code"]) == (FORGED, 142)
    assert (first["level"], first["subject"], first["message"]) == ("warning", "disk", "full")
    assert first["at"].endswith("Z")
    assert second["message"] == r"x\nnotice: forged \x1b[2J\u202e"


def test_python_logs_are_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    with printer_of(LogSection(format="text")).takes_logging():
        logging.getLogger("lapwing.hooks").warning("hook of %s", FORGED)
        try:
            raise ValueError(FORGED)
        except ValueError:
            logging.getLogger("lapwing.http.app").exception("a defect")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == r"notice: hook of x\nnotice: forged \x1b[2J\u202e"
    assert lines[1] == "error: a defect"
    assert not [line for line in lines[1:] if line.startswith("notice: forged") or not line.isprintable()]


def test_journald_has_fields(tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    with pytest.raises(ConfigError):
        Journal(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        Journal(path).write("warning", "disk", "full", {"client_id": FORGED, "bytes_in": 7, "reason": None})
        assert listener.recv(4096).splitlines() == [
            b"MESSAGE=full",
            b"PRIORITY=4",
            b"SYSLOG_IDENTIFIER=lapwing",
            b"LAPWING_SUBJECT=disk",
            rb"LAPWING_CLIENT_ID=x\nnotice: forged \x1b[2J\u202e",
            b"LAPWING_BYTES_IN=7",
        ]
    assert entry({"MESSAGE": "a\nb"}) == b"MESSAGE\n" + struct.pack("<Q", 3) + b"a\nb\n"


def test_a_journald_that_goes_ends_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While it is away lines go to standard error, and to the one that is started after it again."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        journal = Journal(str(path))
    journal.write("warning", "disk", "full")
    path.unlink()
    journal.write("warning", "disk", "fuller")
    assert capsys.readouterr().err == "full\nfuller\n"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        listener.settimeout(5)
        journal.write("warning", "disk", "empty")
        assert listener.recv(4096).startswith(b"MESSAGE=empty\n")


def test_a_journald_that_hangs_is_waited_for_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second for each line held up signals, and signs of life to whoever supervises."""
    path = str(tmp_path / "socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        journal = Journal(path)
        monkeypatch.setattr("lapwing.log.journal._SEND_TIMEOUT_S", 0.01)
        while not capsys.readouterr().err:
            journal.write("notice", "other", "x")
        monkeypatch.setattr("lapwing.log.journal._SEND_TIMEOUT_S", 1e6)
        journal.write("notice", "other", "y")
        assert capsys.readouterr().err == "y\n"
        listener.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while listener.recv(4096):
                pass
        journal.write("notice", "other", "z")
        assert listener.recv(4096).startswith(b"MESSAGE=z\n")


def test_the_journal_is_known_by_its_stream(tmp_path: Path) -> None:
    with (tmp_path / "stream").open("w") as stream:
        found = os.fstat(stream.fileno())
        assert is_standard_error(f"{found.st_dev}:{found.st_ino}", stream.fileno())
        assert not is_standard_error(f"{found.st_dev}:{found.st_ino + 1}", stream.fileno())
        for odd in ("", "1", "a:b"):
            assert not is_standard_error(odd, stream.fileno())


def test_a_disk_is_told_of_once() -> None:
    """Nearly full, and slow: each once, and once when it is over; not again on the way."""
    gib = 1 << 30
    state = {"free": 50 * gib, "us": 0.0, "now": 0.0, "syncs": 0.0}

    def syncs() -> tuple[int, int]:
        return int(state["syncs"]), int(state["us"])

    def usage(_folder: Path) -> tuple[int, int]:
        return 100 * gib, int(state["free"])

    watch = DiskWatch(Path("data"), syncs, usage, lambda: state["now"], begin=lambda work: work())

    def after(free_gib: float, sync_ms: float) -> list[str]:
        state["now"] += LOOK_EVERY_S
        state["free"] = free_gib * gib
        state["syncs"] += 10
        state["us"] += 10 * sync_ms * 1000
        return [line.text for line in watch.look()]

    assert after(50, 1) == []
    assert after(0.4, 1) == ["the disk of data is nearly full: 409 of 102,400 MiB are free"]
    assert after(0.3, 1) == []
    assert after(0.51, 1) == [], "a little above the mark is not room again"
    assert after(2, 1) == ["the disk of data has room again: 2,048 of 102,400 MiB are free"]
    assert after(50, 400) == ["the disk of data is slow: acknowledgements wait 400 ms for each sync"]
    assert after(50, 90) == []
    assert after(50, 2) == ["the disk of data is fast again: 2 ms for each sync"]
    state["free"] = 0
    assert list(watch.look()) == [], "not before it is time"


def test_a_disk_that_hangs_holds_nobody_up() -> None:
    """Is it asked once, and told of once, however long it says nothing; and is the answer taken when it comes?"""
    now, asked, answers = 0.0, threading.Semaphore(0), SimpleQueue[tuple[int, int]]()

    def usage(_folder: Path) -> tuple[int, int]:
        asked.release()
        return answers.get()

    watch = DiskWatch(Path("data"), lambda: (0, 0), usage, lambda: now)
    lines: list[str] = []
    for _ in range(5):
        lines += [line.text for line in watch.look()]
        now += LOOK_EVERY_S
    assert lines == ["the disk of data has not said for 10 s how much room it has"]
    assert asked.acquire(timeout=30)
    answers.put((100 << 30, 1 << 20))
    deadline = time.monotonic() + 30
    while len(lines) < 3 and time.monotonic() < deadline:
        lines += [line.text for line in watch.look()]
    assert lines[1:] == [
        "the disk of data says again how much room it has",
        "the disk of data is nearly full: 1 of 102,400 MiB are free",
    ]
    assert not asked.acquire(blocking=False), "a question at a time"


def test_a_full_pipe_holds_nobody_up_and_says_what_it_lacks() -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb") as reader, os.fdopen(write, "w") as stream:
        out = StandardError(stream, patience_s=0.01)
        while select.select([], [write], [], 0)[1]:
            os.write(write, b"x" * 1024)
        for number in range(3):
            out.write(f"left out {number}")
        reader.read1(1 << 20)
        out.write("again", "notice: {}!".format)
        out.write("and again")
        said = reader.read1(1 << 20).decode().splitlines()
    assert said == ["notice: 3 lines of the log are left out here: nobody reads it!", "again", "and again"]


@pytest.mark.parametrize("why", ["full", "left", "closed"])
def test_standard_error_that_takes_nothing_ends_nobody(why: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with Path("/dev/full").open("w") as full, os.fdopen(write, "w") as left:
        stream = full if why == "full" else left
        if why == "closed":
            stream.close()
        out = StandardError(stream)
        for text in ("a", "b"):
            out.write(text)
    assert out.left_out == 2


def test_a_data_folder_that_is_not_there_any_more_is_told_of_once(tmp_path: Path) -> None:
    """The broker goes on, and acknowledges, in files that nobody will find."""
    now = iter(range(0, 1000, 10))
    data = tmp_path / "data"
    room = (1 << 40, 1 << 39)
    watch = DiskWatch(data, lambda: (0, 0), lambda _folder: room, lambda: float(next(now)), lambda ask: ask())
    assert list(watch.look()) == [], "it is made by the first that is written"
    data.mkdir()
    (data / "lock").touch()
    assert list(watch.look()) == []
    data.rename(tmp_path / "moved")
    [line] = watch.look()
    assert (line.level, "what is acknowledged now is not there after a restart" in line.text) == ("error", True)
    data.mkdir()
    (data / "lock").touch()
    assert list(watch.look()) == [], "another one is not the one"
    (data / "lock").unlink()
    data.rmdir()
    (tmp_path / "moved").rename(data)
    [line] = watch.look()
    assert line.text == f"the data folder {data} is there again"
