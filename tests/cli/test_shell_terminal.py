"""`lapwing shell` as a person has it: in a terminal, against a real broker. The lines are those on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from shell_terminal import Terminal

from lapwing import Broker, Client


@contextmanager
def shell(url: str, state: Path, *names: str) -> Iterator[Terminal]:
    """A shell that has connected clients of these names."""
    with Terminal("shell", "--url", url, state=state) as terminal:
        terminal.until_typed("lapwing> ")
        for name in names:
            terminal.line(f"connect {name}")
            terminal.until_typed(f"{name}> ")
        yield terminal


@pytest.fixture
def terminal(lapwing_broker: Broker, tmp_path: Path) -> Iterator[Terminal]:
    """A shell with one client, `d1`."""
    with shell(lapwing_broker.url, tmp_path, "d1") as terminal:
        yield terminal


@pytest.fixture
def other(lapwing_broker: Broker) -> Iterator[Client]:
    """Somebody outside the shell."""
    with Client(lapwing_broker.url, client_id="other") as client:
        yield client


def publish(client: Client, topic: str, *payloads: str, **settings: bool) -> None:
    for payload in payloads:
        client.publish(topic, payload, qos=1, **settings)
    client.flush()


def test_there_and_back(terminal: Terminal, other: Client) -> None:
    """Does what is typed go out as typed, and what comes in stand on the screen?"""
    other.subscribe("#", qos=1)
    terminal.line("pub lamps/kitchen 'on and on' --qos 1 -p floor=3")
    terminal.until("d1 published to lamps/kitchen (qos 1, acknowledged)")
    message = other.receive(30.0)
    assert message
    assert (message.topic, message.payload) == ("lamps/kitchen", b"on and on")
    assert message.user_properties == [("floor", "3")]

    publish(other, "lamps/hall", "off", retain=True)
    terminal.line("sub lamps/+ --qos 1")
    terminal.until("d1 subscribed to lamps/+ (qos 1)", "d1 lamps/hall off  (qos 1, retained)")
    terminal.line("unsub lamps/+")
    terminal.until("d1 unsubscribed from lamps/+")
    publish(other, "lamps/hall", "unheard")
    terminal.line("clients")
    terminal.until_part("connected")
    assert not any("unheard" in line for line in terminal.screen.text())


def test_messages_while_typing(terminal: Terminal, other: Client) -> None:
    """Does a line being typed stay whole, and go on where it was, while messages come?"""
    terminal.line("sub live/#")
    terminal.until("d1 subscribed to live/# (qos 0)")
    terminal.until_typed("d1>")  # keys typed before the prompt are another test's matter
    typed = "d1> "
    for number, letters in enumerate(("pub ba", "ck h", "ello --q", "os 1")):
        terminal.keys(letters)
        typed += letters
        terminal.until_typed(typed)
        publish(other, f"live/{number}", "x" * 150)  # longer than the terminal is wide
        terminal.until(f"d1 live/{number} {'x' * 90}")
        terminal.until_typed(typed)
    assert sum("pub back" in line for line in terminal.screen.text()) == 1
    other.subscribe("back")
    terminal.keys("\r")
    message = other.receive(30.0)
    assert message
    assert message.payload == b"hello"


def test_typing_ahead(terminal: Terminal, other: Client) -> None:
    """Do keys typed while a command runs wait for the prompt, none of them shown in front of it or lost?"""
    terminal.line("sub a")
    terminal.until("d1 subscribed to a (qos 0)")
    terminal.line("wait --timeout 600")
    terminal.until("waits for messages: 1, at most 600 s; Ctrl-C ends it")
    terminal.keys("never\x03")  # a signal, which drops what was typed before it
    terminal.until("interrupted")
    terminal.line("wait 2 --timeout 600")
    terminal.until("waits for messages: 2, at most 600 s; Ctrl-C ends it")
    terminal.keys("pub a ahead\r\x04")
    publish(other, "a", "1", "2")
    assert terminal.end() == 0
    assert "d1> pub a ahead" in terminal.screen.text()


def test_many_messages_in_order(terminal: Terminal, other: Client) -> None:
    """Does a burst arrive whole and in order, above what is typed?"""
    terminal.line("sub burst --qos 1")
    terminal.until("d1 subscribed to burst (qos 1)")
    terminal.until_typed("d1> ")
    terminal.keys("half a li")
    publish(other, "burst", *map(str, range(2_000)))
    terminal.until("d1 burst 1999  (qos 1)")
    terminal.until_typed("d1> half a li")
    shown = [line.split()[2] for line in terminal.screen.text() if line.startswith("d1 burst ")]
    assert shown == [str(number) for number in range(2_000 - len(shown), 2_000)]


def test_what_a_peer_sends_does_not_steer_the_terminal(terminal: Terminal, other: Client) -> None:
    terminal.line("sub a")
    terminal.until("d1 subscribed to a (qos 0)")
    publish(other, "a", "\x1b[2J\rgone\n")
    terminal.until("d1 a \\x1b[2J\\rgone\\n")


def test_completion(terminal: Terminal, other: Client) -> None:
    """Does Tab finish verbs, options, values, clients, topics seen and subscriptions held?"""
    for typed, finished in (
        ("unsu", "unsub"),
        ("pub --ret", "pub --retain"),
        ("use d", "use d1"),
        ("help cl", "help clients"),
    ):
        # What is typed before the prompt is there is echoed by the terminal.
        terminal.until_typed("d1> ")
        terminal.keys(f"{typed}\t")
        terminal.until_typed(f"d1> {finished}")
        terminal.keys("\x03")
    terminal.until_typed("d1> ")
    terminal.line("sub kitchen/#")
    terminal.until("d1 subscribed to kitchen/# (qos 0)")
    publish(other, "kitchen/lamp", "on")
    terminal.until("d1 kitchen/lamp on")
    terminal.until_typed("d1> ")
    terminal.keys("pub kit\t")
    terminal.until_typed("d1> pub kitchen/lamp")
    terminal.keys("\x03unsub k\t")
    terminal.until_typed("d1> unsub kitchen/#")


def test_message_while_choosing(terminal: Terminal, other: Client) -> None:
    """Does an open list of completions survive a message?"""
    terminal.line("sub a")
    terminal.until("d1 subscribed to a (qos 0)")
    terminal.until_typed("d1> ")
    terminal.keys("pub t --re\t")
    terminal.until_part("The broker keeps it")
    publish(other, "a", "hello")
    terminal.until("d1 a hello")
    terminal.until_part("The broker keeps it")


def test_history(lapwing_broker: Broker, tmp_path: Path) -> None:
    """Does Up bring lines back, in the next shell too, but never one with a password?"""
    with shell(lapwing_broker.url, tmp_path, "d1") as terminal:
        terminal.line("connect d2 --username me --password secret")
        terminal.until_typed("d2> ")
        terminal.line("use d1")
        terminal.until_typed("d1> ")
        terminal.keys("\x1b[A")
        terminal.until_typed("d1> use d1")
        terminal.keys("\x03\x04")
        assert terminal.end() == 0
    with shell(lapwing_broker.url, tmp_path) as terminal:
        terminal.keys("\x1b[A\x1b[A")
        terminal.until_typed("lapwing> connect d1")
    file = tmp_path / "lapwing" / "shell-history"
    assert file.read_text().splitlines() == ["connect d1", "use d1"]
    assert file.stat().st_mode & 0o077 == 0


def test_no_room_for_a_history_is_said(lapwing_broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "lapwing").write_text("a file where a folder should be")
    with shell(lapwing_broker.url, tmp_path, "d1") as terminal:
        terminal.until_part("error: no history: ")


def test_interrupt(terminal: Terminal) -> None:
    """Does Ctrl-C clear the line, tell how to leave on an empty one, and end a wait but not the shell?"""
    terminal.keys("pub oops")
    terminal.until_typed("d1> pub oops")
    terminal.keys("\x03")
    terminal.until_typed("d1> ")
    assert not any("oops" in line for line in terminal.screen.text())
    terminal.keys("\x03")
    terminal.until("Ctrl-D ends")
    terminal.until_typed("d1> ")
    terminal.line("wait --timeout 600")
    terminal.until("waits for messages: 1, at most 600 s; Ctrl-C ends it")
    terminal.keys("\x03")
    terminal.until("interrupted")
    terminal.until_typed("d1> ")


@pytest.mark.parametrize("leave", ["\x04", "quit\r", "exit\r"])
def test_leaving_says_goodbye(lapwing_broker: Broker, tmp_path: Path, leave: str) -> None:
    """Do the clients leave in order, so that no will goes out?"""
    with Client(lapwing_broker.url) as watcher:
        watcher.subscribe("will/#", qos=1)
        with shell(lapwing_broker.url, tmp_path) as terminal:
            terminal.line("connect d1 --will-topic will/d1 --will-message gone --will-qos 1")
            terminal.until_typed("d1> ")
            terminal.keys(leave)
            assert terminal.end() == 0
        publish(watcher, "will/end", "end")
        message = watcher.receive(30.0)
        assert message
        assert message.topic == "will/end"


def test_server_gone_and_back(tmp_path: Path) -> None:
    """Is it said at once when the server goes, does each verb say so too, and can one connect again?"""
    with Broker(shards=1) as broker:
        url = broker.url
        with shell(url, tmp_path, "d1") as terminal:
            terminal.keys("pub a ")
            terminal.until_typed("d1> pub a ")
            broker.stop()
            terminal.until_part("error: 'd1' is not connected any more: ")
            terminal.until_typed("d1 (lost)> pub a ")
            terminal.line("x")
            terminal.until_part("connect d1")
            terminal.until_typed("d1 (lost)> ")
            terminal.line("connect d1")
            terminal.until_part(f"cannot connect to {url}")
            with Broker([url], shards=1):
                terminal.line("connect d1")
                terminal.until_typed("d1> ")
                terminal.keys("\x04")
                assert terminal.end() == 0


def test_taken_over(terminal: Terminal, lapwing_broker: Broker) -> None:
    """Is the broker's reason shown when somebody else takes the client id?"""
    with Client(lapwing_broker.url, client_id="d1"):
        terminal.until_part("Session taken over")
        terminal.until_typed("d1 (lost)> ")


def test_several_clients(lapwing_broker: Broker, tmp_path: Path) -> None:
    """Is it clear who receives and who acts, and does another become current when one goes?"""
    with shell(lapwing_broker.url, tmp_path, "d1") as terminal:
        terminal.line("sub all")
        terminal.until("d1 subscribed to all (qos 0)")
        terminal.line("connect d2 --version 4")
        terminal.until_typed("d2> ")
        terminal.line("sub all --qos 2")
        terminal.until("d2 subscribed to all (qos 2)")
        terminal.line("pub all hello --qos 2")
        terminal.until("d1 all hello", "d2 all hello  (qos 2)")
        terminal.line("clients")
        terminal.until_part("3.1.1")
        terminal.until(f"   d1      {lapwing_broker.url}  5.0    connected  all")
        terminal.until(f"*  d2      {lapwing_broker.url}  3.1.1  connected  all")
        terminal.line("unsub all --id d1")
        terminal.until("d1 unsubscribed from all")
        terminal.line("disconnect")
        terminal.until("d2 disconnected")
        terminal.until_typed("d1> ")
        terminal.line("use d2")
        terminal.until_part("no client 'd2' in this shell")


def test_wrong_input_is_named(terminal: Terminal) -> None:
    """Does each mistake get one line with its remedy, and does the shell go on?"""
    for typed, said in (
        ("pubb a b", "error: no verb 'pubb': did you mean pub?"),
        ("pub a/# b", "error: 'a/#' is not a topic name: it has a wildcard, which only a filter may have"),
        (
            "pub a b --packet-id 7",
            "error: --packet-id at QoS 0: a message has a packet id at --qos 1 and 2 only",
        ),
        ("connect d1", "error: 'd1' is connected already: use d1, or disconnect d1 first"),
    ):
        terminal.line(typed)
        terminal.until(said)
        terminal.until_typed("d1> ")


def test_a_password_is_asked_for_unseen(terminal: Terminal) -> None:
    """Is what is typed neither shown nor kept, and does Ctrl-C leave the line and not the shell?"""
    terminal.line("connect d7 --username alice")
    terminal.until_typed("password of alice: ")
    terminal.line("s3cret")
    terminal.until_typed("d7> ")
    terminal.line("connect d8 --username bob")
    terminal.until_typed("password of bob: ")
    terminal.keys("\x03")
    terminal.until("interrupted")
    terminal.until_typed("d7> ")
    terminal.keys("\x1b[A\x1b[A")
    terminal.until_typed("d7> connect d7 --username alice")
    assert "s3cret" not in "".join(terminal.screen.text()).replace("*", "")


def test_paste(terminal: Terminal) -> None:
    """Are several lines pasted at once run one after the other?"""
    terminal.keys("\x1b[200~sub a\npub a 1\npub a 2\x1b[201~\r")
    terminal.until("d1 a 1", "d1 a 2")
