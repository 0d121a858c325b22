"""`lapwing sessions` and `lapwing queues`: a real broker's sessions from the outside."""

from __future__ import annotations

import os
import pty
import subprocess
import time
from collections.abc import Callable

import pytest
from commands import LAPWING, TIMEOUT_S, call, clean_environment, lapwing, one_error, rows
from web import get

from lapwing import Broker, Client

DEADLINE_S = 30
pytestmark = pytest.mark.lapwing(http="127.0.0.1:0")
Publish = Callable[[str, list[tuple[str, bytes]]], None]


@pytest.fixture
def crowd(lapwing_broker: Broker, publish: Publish) -> str:
    """The URL of a broker with three sessions that are away, for one of which two messages wait."""
    for name in ("device-1", "device-2", "other"):
        with Client(lapwing_broker.url, client_id=name, clean_start=False, session_expiry_s=7_200) as client:
            client.subscribe(f"to/{name}", qos=1)
    # A message for one whose DISCONNECT is still being read would be under way, not in the queue.
    wait_until_only_away(lapwing_broker, 3)
    publish(lapwing_broker.url, [("to/device-2", b"x")] * 2)
    # The publisher's own session ends with its connection, and that takes a moment.
    wait_until_only_away(lapwing_broker, 3)
    return lapwing_broker.http_url


def wait_until_only_away(broker: Broker, count: int) -> None:
    """Until there are so many sessions, and all are away."""
    until = time.monotonic() + DEADLINE_S
    while True:
        rows_ = get(f"{broker.http_url}/v1/sessions").json()["sessions"]
        if len(rows_) == count and not any(row["is_connected"] for row in rows_):
            return
        assert time.monotonic() < until, rows_
        time.sleep(0.01)


def test_sessions_are_listed(crowd: str) -> None:
    result = call("sessions", "--url", crowd)
    lines = result.stdout.splitlines()
    assert lines[0].split()[:5] == ["CLIENT", "STATE", "EXPIRY", "SUBS", "WAITING"]
    assert [line.split()[0] for line in lines[1:]] == ["device-1", "device-2", "other"]
    assert "in 2 h" in lines[1] or "in 1 h 59 min" in lines[1]
    assert result.stderr.startswith("3 of 3 sessions; 2 messages wait, ")
    page = call("sessions", "list", "-n", "1", LAPWING_HTTP_URL=crowd)
    assert page.stderr.rstrip().endswith("; go on with --after device-1")
    shown = rows(call("sessions", "--after", "device-1", "--json", "--url", crowd))
    assert [row["client_id"] for row in shown] == ["device-2", "other"]
    every = rows(call("sessions", "--all", "--prefix", "device", "--state", "away", "--json", "--url", crowd))
    assert [row["client_id"] for row in every] == ["device-1", "device-2"]
    assert rows(call("sessions", "--state", "connected", "--json", "--url", crowd)) == []


def test_one_session_is_shown(crowd: str) -> None:
    """With and without the word show: the session, what it subscribes to, and the head of its queue."""
    text = call("sessions", "device-2", "--head", "1", "--url", crowd).stdout
    assert "\nFILTER       QOS  OPTIONS  ID\nto/device-2  1    -        -\n" in text
    assert text.count("to/device-2") == 2, "the filter, and one message"
    (session,) = rows(call("sessions", "show", "device-2", "--json", "--url", crowd))
    assert (session["waiting_messages"], len(session["queue"])) == (2, 2)


def test_queues_are_listed_and_shown(crowd: str) -> None:
    lines = lapwing("queues", "--url", crowd).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["CLIENT", "device-2"]
    (queue,) = rows(lapwing("queues", "--all", "--json", "--url", crowd))
    assert queue["waiting_messages"] == 2
    assert lapwing("queues", "device-2", "--url", crowd).stdout.count("to/device-2") == 2


def test_orders_are_carried_out(crowd: str) -> None:
    """A script is not asked; several clients at once, and what is not there is an error."""
    emptied = call("queues", "drop", "device-2", "--url", crowd)
    assert emptied.stdout.startswith("device-2: 2 messages, ")
    ended = call("sessions", "drop", "device-1", "device-2", "--url", crowd)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert [row["client_id"] for row in rows(call("sessions", "--json", "--url", crowd))] == ["other"]
    assert "no session of client 'device-1'" in one_error(call("sessions", "drop", "device-1", "--url", crowd))


@pytest.mark.parametrize(
    ("words", "said", "done"),
    [
        (["sessions", "drop"], "no session of client", ""),
        (["queues", "drop"], "no session of client", "other: 0 messages, 0 bytes dropped\n"),
    ],
)
def test_an_order_is_carried_out_for_those_that_are_there(crowd: str, words: list[str], said: str, done: str) -> None:
    """Whoever else it is given for: that is said, and is the exit code."""
    result = call(*words, "nobody", "other", "nobody either", "--yes", "--url", crowd)
    assert (result.returncode, result.stdout) == (1, done)
    assert [line.partition(" (")[0] for line in result.stderr.splitlines()] == [
        f"error: {said} 'nobody'",
        f"error: {said} 'nobody either'",
    ]
    left = [row["client_id"] for row in rows(call("sessions", "--json", "--url", crowd))]
    assert ("other" in left) is (words[0] == "queues")


def test_the_next_page_can_be_pasted(lapwing_broker: Broker) -> None:
    """Whatever a client calls itself."""
    odd = ["a b", "a'\n\\\x1bé", "b"]
    for name in odd:
        Client(lapwing_broker.url, client_id=name, clean_start=False, session_expiry_s=600).connect().disconnect()
    after: list[str] = []
    for name in sorted(odd):
        page = call("sessions", "-n", "1", "--json", *after, "--url", lapwing_broker.http_url)
        assert [row["client_id"] for row in rows(page)] == [name]
        told = call("sessions", "-n", "1", *after, "--url", lapwing_broker.http_url).stderr
        assert len(told.splitlines()) == 1
        pasted = told.rstrip("\n").partition("; go on with --after ")[2]
        script = ["bash", "-c", f"printf %s {pasted}"]
        after = ["--after", subprocess.run(script, capture_output=True, check=True).stdout.decode()]


@pytest.mark.parametrize(("said", "is_done"), [("n", False), ("y", True)])
def test_a_terminal_is_asked(crowd: str, said: str, is_done: bool) -> None:
    """Is nothing done without a yes at a terminal?"""
    ours, theirs = pty.openpty()
    try:
        command = [*LAPWING, "sessions", "drop", "other", "--url", crowd]
        os.write(ours, f"{said}\n".encode())
        result = subprocess.run(
            command, stdin=theirs, capture_output=True, timeout=TIMEOUT_S, env=clean_environment(), check=False
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"end the session of other?" in result.stderr
    assert result.returncode == (0 if is_done else 1)
    left = [row["client_id"] for row in rows(call("sessions", "--json", "--url", crowd))]
    assert ("other" in left) is not is_done


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["sessions", "nobody"], 1, "no session of client 'nobody'"),
        (["queues", "drop", "nobody", "--yes"], 1, "no session of client 'nobody'"),
        (["sessions", "--longest", "bytes", "--after", "x"], 2, "pages are by client id"),
        (["sessions", "--longest", "bytes", "--all"], 2, "pages are by client id"),
        (["sessions", "--head", "1", "d 1"], 2, "No such option: --head"),
        (["sessions", "-n", "1", "d 1"], 2, "write lapwing sessions show 'd 1', and the options behind it"),
        (["queues", "--json", "d"], 2, "'d' stands behind options, and lapwing queues means list there"),
        (["sessions", "shwo", "x"], 2, "did you mean lapwing sessions show?"),
        (["sessions", "d1", "d2"], 2, "'d1' is no command of lapwing sessions"),
    ],
)
def test_errors(lapwing_broker: Broker, words: list[str], code: int, said: str) -> None:
    result = call(*words, "--url", lapwing_broker.http_url)
    assert result.returncode == code
    assert said in one_error(result)


def test_nobody_answers() -> None:
    assert call("sessions", "--url", "http://127.0.0.1:1").returncode == 3
