"""Does each cell of the fault matrix keep what it acknowledges, and is the matrix able to see one that does not?"""

from __future__ import annotations

import shlex
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from .cell import FAULTS, Cell, Figures
from .expected import BECAME, STOPPED, broken
from .loop import Loop
from .matrix import DISK_FAULTS, run_cells, table
from .power import compile_library
from .publisher import Publisher
from .subjects import LAPWING, Running, Subject
from .subscribers import Subscriber

pytestmark = pytest.mark.timeout(300)
PACE = 0.3
Libraries = tuple[Path, Path]
"""Loaded before libc: one whose disk fails, one that remembers for a power cut."""
GOOD = Figures("lapwing", "full disk", "stream", 1, 100, 100, 100, longest_wait_s=0.6, broker="went on")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    folder = tmp_path_factory.mktemp("libraries")
    return compile_library(folder, DISK_FAULTS), compile_library(folder)


def one(tmp_path: Path, libraries: Libraries, of: Subject, fault: str, qos: int, kept_by: str) -> Figures:
    home = tmp_path / of.name
    home.mkdir()
    return Cell(of, fault, qos, kept_by, home, *libraries, PACE).run()


def test_a_full_disk_holds_acknowledgements_back(tmp_path: Path, libraries: Libraries) -> None:
    figures = one(tmp_path, libraries, Subject("lapwing"), "full disk", 1, "stream")
    assert not broken(figures)
    assert figures.resumed_s is not None
    assert figures.resumed_s < 30


def test_a_loss_is_seen(tmp_path: Path, libraries: Libraries) -> None:
    """A broker that promises nothing loses what it has acknowledged: the matrix says so."""
    careless = Subject("careless", settings=LAPWING.replace("[broker]", '[broker]\ndurability = "memory"'))
    figures = one(tmp_path, libraries, careless, "kill", 1, "session")
    assert figures.missing > 0
    assert f"{figures.missing} acknowledged messages are missing" in broken(figures)


def test_a_broker_that_does_not_start_is_seen(tmp_path: Path, libraries: Libraries) -> None:
    """Nothing was sent, so nothing is missing: that is no good cell."""
    figures = one(tmp_path, libraries, Subject("confused", settings="[broker]\nmood = 1\n"), "kill", 1, "session")
    assert (figures.sent, figures.missing) == (0, 0)
    assert figures.died
    assert broken(figures)


def test_a_broker_below_a_shell_is_killed_with_all_its_processes(tmp_path: Path) -> None:
    """Peers are scripts that start something: would what they started go on?"""
    listen = shlex.join((sys.executable, "-m", "http.server", "--bind", "127.0.0.1"))
    running = Running(Subject("shell", ("sh", "-c", f"{listen} {{port}} & wait"), ""), tmp_path)
    running.start({})
    address = ("127.0.0.1", int(running.url.rpartition(":")[2]))
    socket.create_connection(address, timeout=5).close()
    assert not running.has_ended
    assert running.kill() == -9
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5)


def test_what_comes_behind_the_last_message_is_waited_for() -> None:
    arrivals = count()
    Loop().until_quiet(0.2, 30, lambda: min(next(arrivals), 40))
    assert next(arrivals) > 40
    with pytest.raises(TimeoutError):
        Loop().until_quiet(0.2, 0.4, lambda: next(arrivals))


def test_what_a_broker_that_fell_silent_had_acknowledged_is_counted(
    tmp_path: Path, libraries: Libraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed, and starts on a good disk like all others: silence is no loss."""
    until = Loop.until

    def impatient(self: Loop, seconds: float, what: str, *arguments: Callable[[], Any]) -> None:
        if what == "acknowledgements, or an end":
            raise TimeoutError(what)
        until(self, seconds, what, *arguments)

    monkeypatch.setattr(Loop, "until", impatient)
    figures = one(tmp_path, libraries, Subject("lapwing"), "full disk", 1, "session")
    assert (figures.broker, figures.died, figures.missing) == ("fell silent", "", 0)
    assert figures.there >= figures.acknowledged > 0
    assert broken(figures)


def test_a_session_is_as_old_as_is_asked_for(
    tmp_path: Path, libraries: Libraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some brokers keep what a session is for seconds in memory: that is told apart from what they do later."""
    times: list[float] = []
    for kind, name in ((Subscriber, "leave"), (Publisher, "publish")):
        monkeypatch.setattr(kind, name, noting(times, getattr(kind, name)))
    figures = Cell(Subject("lapwing"), "kill", 1, "session", tmp_path, *libraries, PACE, age_s=2.0).run()
    assert not broken(figures)
    left, sent, *_ = times
    assert sent - left >= 2.0


def noting(times: list[float], call: Callable[..., object]) -> Callable[..., object]:
    def noted(*arguments: object, **named: object) -> object:
        times.append(time.monotonic())
        return call(*arguments, **named)

    return noted


def test_only_the_levels_that_are_asked_for_are_run(tmp_path: Path) -> None:
    """A broker without QoS 2 has no cells of it."""
    of = Subject("nobody", ("false",), "")
    assert [figures.qos for figures in run_cells(of, ["kill", "full disk"], tmp_path, PACE, (1,))] == [1, 1]


def test_every_fault_has_an_expectation() -> None:
    assert set(BECAME) == set(FAULTS)
    assert not broken(GOOD)


BAD = {
    "it died": replace(GOOD, died="TimeoutError: what waits: not within 30 s"),
    "a client was sent away": replace(GOOD, notes=["writer was sent away: 0x97"]),
    "nothing was sent": replace(GOOD, sent=0, acknowledged=0, there=0),
    "one is not acknowledged": replace(GOOD, acknowledged=99),
    "one is missing": replace(GOOD, missing=1),
    "QoS 2 came twice": replace(GOOD, qos=2, kept_by="session", repeated=1),
    "it stopped": replace(GOOD, broker=STOPPED),
    "it did not stop": replace(GOOD, fault="failing fsync"),
    "it was not killed": replace(GOOD, fault="kill"),
    "nobody felt the fault": replace(GOOD, longest_wait_s=0.02),
    "nothing arrived": replace(GOOD, qos=0, there=0),
}


@pytest.mark.parametrize("what", BAD)
def test_a_cell_that_is_not_as_it_must_be_is_broken(what: str) -> None:
    assert len(broken(BAD[what])) == 1, what


def test_who_needs_no_disk_may_not_notice_that_it_fails() -> None:
    unkept = replace(GOOD, fault="read-only disk", kept_by="session", qos=0, broker="went on")
    assert not broken(unkept)
    assert not broken(replace(unkept, broker=STOPPED))
    assert broken(replace(unkept, broker="was killed"))


@pytest.mark.nightly
@pytest.mark.timeout(1_500)
def test_every_cell_is_as_it_must_be(tmp_path: Path) -> None:
    found = list(run_cells(Subject("lapwing"), list(FAULTS), tmp_path, PACE))
    assert len(found) == len(FAULTS) * 6
    assert not [(figures, remarks) for figures in found if (remarks := broken(figures))], table(found)
