"""`lapwing pub` and `lapwing sub` through a real broker."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from commands import LAPWING, Running, call, clean_environment, lapwing, one_error, rows

from lapwing import Broker, Client


def retained(url: str, topic_filter: str, count: int, *arguments: str) -> list[dict[str, object]]:
    """What a new subscriber is given: a way to look without a race between `sub` and `pub`."""
    return rows(
        call(
            "sub",
            topic_filter,
            "--url",
            url,
            "--json",
            "-n",
            str(count),
            "-t",
            "30",
            "--qos",
            "2",
            *arguments,
        )
    )


@pytest.mark.parametrize("version", ["4", "5"])
@pytest.mark.parametrize("qos", ["0", "1", "2"])
def test_message_and_retain(lapwing_broker: Broker, version: str, qos: str) -> None:
    """Does a message arrive as it was published, in each version and QoS?"""
    url = lapwing_broker.url
    result = call("pub", "a/b", "gr\u00fcn", "--retain", "--qos", qos, "--version", version, "--url", url)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    expected = {"topic": "a/b", "qos": int(qos), "retain": True, "payload": "gr\u00fcn"}
    assert retained(url, "a/#", 1, "--version", version) == [expected]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("sub", "a/#", "a/#/b"), "'a/#/b' is not a topic filter: # must be the whole last level"),
        (("sub", "$share/g"), "'$share/g' is not a topic filter: it is not of the form $share/GROUP/FILTER"),
        (("sub", "a+"), "'a+' is not a topic filter: + must be a whole level"),
        (("pub", "a/+", "x"), "'a/+' is not a topic name: it has a wildcard, which only a filter may have"),
        (("pub", "", "x"), "'' is not a topic name: it is empty"),
    ],
)
def test_a_wrong_topic_is_told_before_anything_is_connected(command: tuple[str, ...], told: str) -> None:
    result = call(*command, "--url", "tcp://127.0.0.1:1")
    assert told in one_error(result)
    assert result.returncode == 2


def test_file_and_properties(lapwing_broker: Broker, tmp_path: Path) -> None:
    """Do bytes that are no text and properties whose names repeat arrive whole?"""
    file = tmp_path / "payload"
    file.write_bytes(b"\x00\xff")
    properties = ("-p", "floor=3", "-p", "floor=4=5")
    result = lapwing("pub", "t", "--file", str(file), "-r", *properties, LAPWING_URL=lapwing_broker.url)
    assert result.returncode == 0, result.stderr
    row = retained(lapwing_broker.url, "t", 1)[0]
    assert row["payload_base64"] == "AP8="
    assert row["user_properties"] == [["floor", "3"], ["floor", "4=5"]]


@pytest.mark.lapwing(streams={"all": "#"})
def test_stdin_lines(lapwing_broker: Broker) -> None:
    """Is each line a message, the last one too when it has no end?"""
    text = b"".join(b"%d\n" % n for n in range(5_000)) + b"\nlast"
    result = lapwing("pub", "n", "--stdin-lines", "--qos", "1", "--url", lapwing_broker.url, stdin=text)
    assert result.returncode == 0, result.stderr
    assert lapwing_broker.streams()[0]["partitions"][0]["next_offset"] == 5_002


def test_lines_leave_at_once(lapwing_broker: Broker) -> None:
    """Does a line of a slow writer arrive while its input is still open?"""
    with Client(lapwing_broker.url) as receiver:
        receiver.subscribe("slow")
        command = [*LAPWING, "pub", "slow", "--stdin-lines", "--url", lapwing_broker.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=clean_environment()) as publisher:
            assert publisher.stdin
            for line in (b"one\n", b"two\n"):
                publisher.stdin.write(line)
                publisher.stdin.flush()
                message = receiver.receive(30.0)
                assert message
                assert message.payload == line.strip()
            publisher.stdin.close()
            assert publisher.wait(30) == 0


def test_sub_prints_as_it_arrives(lapwing_broker: Broker) -> None:
    """Is each message on the other end of a pipe when it has arrived, and is Ctrl-C exit code 130?"""
    with Running("sub", "live/#", "ready", "--url", lapwing_broker.url) as subscriber:
        with Client(lapwing_broker.url) as publisher:
            publisher.publish("ready", b"x", retain=True)
            publisher.flush()
            assert subscriber.line() == "ready x"
            for number in range(3):
                publisher.publish(f"live/{number}", b"tab\t\xff")
                publisher.flush()
                assert subscriber.line() == f"live/{number} tab\\t\\xff"
        assert subscriber.end(signal.SIGINT) == 130
        assert subscriber.errors == []


def test_sub_where_an_encoding_lacks_what_comes(lapwing_broker: Broker) -> None:
    """A payload of anybody ended it with a traceback."""
    with Client(lapwing_broker.url) as publisher:
        publisher.publish("kanji", "日😀".encode(), retain=True)
        publisher.flush()
    variables = {"PYTHONIOENCODING": "latin-1"}
    result = lapwing("sub", "kanji", "-n", "1", "--url", lapwing_broker.url, **variables)
    assert (result.returncode, result.stdout) == (0, "kanji \\u65e5\\U0001f600\n")
    [row] = rows(lapwing("sub", "kanji", "-n", "1", "--json", "--url", lapwing_broker.url, **variables))
    assert row["payload"] == "日😀"


def test_sub_json_without_time(lapwing_broker: Broker) -> None:
    """Does --timeout without --count end well, whatever came?"""
    result = call("sub", "#", "--timeout", "0.1", "--json", "--url", lapwing_broker.url)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_too_few_in_time(lapwing_broker: Broker) -> None:
    """Is it exit code 4 when fewer than --count came, those printed? A slow machine is given longer for the one."""
    with Client(lapwing_broker.url) as publisher:
        publisher.publish("one", b"1", retain=True)
        publisher.flush()
    for seconds in ("1", "5", "30"):
        result = call("sub", "#", "-n", "2", "-t", seconds, "--json", "--url", lapwing_broker.url)
        assert result.returncode == 4
        if result.stdout:
            break
    assert json.loads(result.stdout)["topic"] == "one"
    assert f"1 of 2 messages within {seconds} s" in result.stderr


@pytest.mark.parametrize("command", [("pub", "t", "m"), ("sub", "t")])
def test_nobody_answers(command: tuple[str, ...]) -> None:
    """Is it exit code 3, in one line that names the URL?"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    result = call(*command, "--url", url)
    assert result.returncode == 3
    assert url in one_error(result)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["pub", "t"], "exactly one payload is needed"),
        (["pub", "t", "m", "--stdin-lines"], "exactly one payload is needed"),
        (["pub", "t", "--file", "/nowhere/payload"], "/nowhere/payload"),
        (["pub", "t", "m", "-p", "floor"], "--property 'floor' is not NAME=VALUE"),
        (["pub", "t", "m", "-p", "a=b", "--version", "4"], "no user properties"),
        (["pub", "t", "m", "--qos", "3"], "--qos"),
        (["pub", "a/+", "m"], "wildcard"),
        (["sub", "a/#/b"], "filter"),
        (["sub", "a", "--url", "http://127.0.0.1:1"], "http"),
    ],
)
def test_wrong_usage(lapwing_broker: Broker, arguments: list[str], what: str) -> None:
    """Is it exit code 2, in one line that says what?"""
    result = call(*arguments, LAPWING_URL=lapwing_broker.url)
    assert result.returncode == 2
    assert what in one_error(result)


@pytest.mark.parametrize("messages", [1, 2_000])
def test_reader_that_leaves(lapwing_broker: Broker, messages: int) -> None:
    """Does `lapwing sub | head -1` end, with its own code and without a traceback, whether more comes or not?"""
    with Client(lapwing_broker.url) as publisher:
        for number in range(messages):
            publisher.publish(f"many/{number}", b"x" * 200, retain=True)
        publisher.flush()
    line = f"{' '.join(LAPWING)} sub many/# -t 60 --url {lapwing_broker.url} | head -1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, env=clean_environment(), check=False
    )
    assert result.stdout.startswith("many/")
    assert (result.returncode, result.stderr) == (141, "")
