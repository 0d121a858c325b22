"""`lapwing shell < script` through a real broker."""

from __future__ import annotations

import json
import signal
import socket
import subprocess

import pytest
from commands import LAPWING, call, clean_environment, lapwing

from lapwing import Broker, Client


def run(url: str, *lines: str, arguments: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Runs a script."""
    return call("shell", "--url", url, *arguments, stdin="\n".join(lines).encode())


@pytest.mark.parametrize("version", ["4", "5"])
def test_script(lapwing_broker: Broker, version: str) -> None:
    """Do messages, and nothing else, stand on standard output, in order?"""
    result = run(
        lapwing_broker.url,
        "# two clients, one talks to the other",
        "",
        f"connect d1 --version {version}",
        "sub lamps/#",
        f"connect d2 -V {version}",
        "pub lamps/kitchen 'on and on'",
        "pub lamps/hall off --id d2 -q 2",
        "wait 2",
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == ["d1 lamps/kitchen on and on", "d1 lamps/hall off"]


def test_json(lapwing_broker: Broker) -> None:
    """Does --json give everything a message has?"""
    result = run(
        lapwing_broker.url,
        "connect d1",
        "sub t --qos 1",
        "pub t '{\"a\": 1}' -q 1 -p room=12 -p room=13 --content-type application/json"
        " --response-topic back --correlation-data 7 --expiry 60",
        "wait",
        arguments=("--json",),
    )
    assert json.loads(result.stdout) == {
        "client": "d1",
        "topic": "t",
        "qos": 1,
        "retain": False,
        "payload": '{"a": 1}',
        "user_properties": [["room", "12"], ["room", "13"]],
        "content_type": "application/json",
        "response_topic": "back",
        "correlation_data": "7",
        "message_expiry_s": 60,
    }


def test_first_error_ends_it(lapwing_broker: Broker) -> None:
    """Is the line named, its exit code given, and nothing run after it?"""
    with Client(lapwing_broker.url) as watcher:
        watcher.subscribe("t", qos=1)
        result = run(lapwing_broker.url, "connect d1", "pub t before -q 1", "pub a/+ x", "pub t after -q 1")
        watcher.publish("t", "end", qos=1)
        watcher.flush()
        payloads = []
        while payloads[-1:] != [b"end"]:
            message = watcher.receive(30.0)
            assert message
            payloads.append(message.payload)
    assert payloads == [b"before", b"end"]
    assert result.returncode == 2
    assert result.stderr == (
        "error: 'a/+' is not a topic name (line 3): it has a wildcard, which only a filter may have\n"
    )


def test_keep_going(lapwing_broker: Broker) -> None:
    """Is every error told and everything else done, with the first error's code?"""
    result = run(
        lapwing_broker.url,
        "pub t x",
        "connect d1",
        "sub t",
        "pubb t y",
        "pub t z",
        "wait",
        arguments=("--keep-going",),
    )
    assert result.returncode == 1
    assert result.stdout == "d1 t z\n"
    assert result.stderr.splitlines() == [
        "error: no client is connected (line 1): connect one: connect d1",
        "error: no verb 'pubb' (line 4): did you mean pub?",
    ]


def test_exit_codes(lapwing_broker: Broker) -> None:
    """Is each kind of failure the code that plain commands give it?"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    for code, lines in (
        (0, []),
        (0, ["quit", "pubb"]),
        (1, ["sub t"]),
        (2, ["connect d1", "sub t --qos 3"]),
        (3, [f"connect d1 --url {nobody}"]),
        (4, ["connect d1", "wait --timeout 0.05"]),
    ):
        result = run(lapwing_broker.url, *lines)
        assert result.returncode == code, (lines, result.stderr)
        assert bool(result.stderr) == bool(code)


def test_bytes_that_are_no_text(lapwing_broker: Broker) -> None:
    result = lapwing("shell", "--url", lapwing_broker.url, stdin=b"help\npub \xff\n")
    assert result.returncode == 2
    assert result.stderr == "error: byte 5 is no UTF-8 (line 2): save the script as UTF-8\n"


def test_session_kept_and_forgotten(lapwing_broker: Broker) -> None:
    """Does a session outlive its connection when asked to, and --forget end it?"""
    kept = ("connect d1 --resume --session-expiry 600",)
    assert run(lapwing_broker.url, *kept, "sub t -q 1", "disconnect").returncode == 0
    with Client(lapwing_broker.url) as publisher:
        publisher.publish("t", "meanwhile", qos=1)
        publisher.flush()
    result = run(lapwing_broker.url, *kept, "wait", "disconnect --forget")
    assert (result.returncode, result.stdout, result.stderr) == (0, "d1 t meanwhile\n", "")
    with Client(lapwing_broker.url, client_id="d1", clean_start=False) as client:
        assert not client.session_present


def test_forget_in_3_1_1(lapwing_broker: Broker) -> None:
    """Is a session of 3.1.1 ended too?"""
    kept = "connect d1 --resume --version 4"
    assert run(lapwing_broker.url, kept, "disconnect", kept, "disconnect --forget").returncode == 0
    with Client(lapwing_broker.url, client_id="d1", version=4, clean_start=False) as client:
        assert not client.session_present


@pytest.mark.parametrize(
    ("goodbye", "will"), [("disconnect", False), ("disconnect --with-will", True), ("disconnect --abort", True)]
)
def test_wills(lapwing_broker: Broker, goodbye: str, will: bool) -> None:
    """Does the will go out when it should, and only then?"""
    with Client(lapwing_broker.url) as watcher:
        watcher.subscribe("w", qos=1)
        assert (
            run(lapwing_broker.url, "connect d1 --will-topic w --will-message bye --will-qos 1", goodbye).returncode
            == 0
        )
        if not will:
            watcher.publish("w", "none", qos=1)
            watcher.flush()
        message = watcher.receive(30.0)
        assert message
        assert message.payload == (b"bye" if will else b"none")


def test_lost_connection_is_an_error(lapwing_broker: Broker) -> None:
    """Is a connection that nobody needed any more still told, and counted?"""
    command = [*LAPWING, "shell", "--url", lapwing_broker.url]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=clean_environment()) as shell:
        assert shell.stdin
        assert shell.stdout
        assert shell.stderr
        shell.stdin.write("connect d1\nclients\n")
        shell.stdin.flush()
        assert "client" in shell.stdout.readline()
        with Client(lapwing_broker.url, client_id="d1"):
            assert "Session taken over" in shell.stderr.readline()
        shell.stdin.close()
        assert shell.wait(30) == 1


def test_lines_run_as_they_come(lapwing_broker: Broker) -> None:
    """Is a line of a slow writer run while its input is open, and is Ctrl-C exit code 130?"""
    command = [*LAPWING, "shell", "--url", lapwing_broker.url]
    with (
        Client(lapwing_broker.url) as watcher,
        subprocess.Popen(command, stdin=subprocess.PIPE, env=clean_environment()) as shell,
    ):
        watcher.subscribe("t")
        assert shell.stdin
        shell.stdin.write(b"connect d1\n")
        for payload in (b"one", b"two"):
            shell.stdin.write(b"pub t " + payload + b"\n")
            shell.stdin.flush()
            message = watcher.receive(30.0)
            assert message
            assert message.payload == payload
        shell.send_signal(signal.SIGINT)
        assert shell.wait(30) == 130


def test_reader_that_leaves(lapwing_broker: Broker) -> None:
    """Does `lapwing shell | head -1` end without a traceback when more comes?"""
    lines = ["connect d1", "sub t -q 1", *(f"pub t {number} -q 1" for number in range(500)), "wait 500"]
    script = "\n".join(lines)
    line = f"{' '.join(LAPWING)} shell --url {lapwing_broker.url} | head -1"
    result = subprocess.run(
        ["bash", "-c", line],
        input=script,
        capture_output=True,
        text=True,
        timeout=60,
        env=clean_environment(),
        check=False,
    )
    assert (result.stdout, result.stderr) == ("d1 t 0\n", "")
