"""Three brokers with a copy each: does everything that was acknowledged outlive the one that serves?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import call, lapwing, one_error
from marsh import Marsh, MarshNode, until

import lapwing as package

MESSAGES = 200


@pytest.fixture
def marsh(tmp_path: Path) -> Iterator[Marsh]:
    with Marsh(tmp_path) as marsh:
        yield marsh


def publish(node: MarshNode, first: int) -> None:
    """Retained messages that are acknowledged when this returns."""
    with package.Client(node.url, client_id="publisher") as client:
        for number in range(first, first + MESSAGES):
            client.publish(f"kept/{number}", str(number).encode(), qos=1, retain=True)
        client.flush()


def kept(node: MarshNode, count: int) -> list[int]:
    """What a new subscriber hears."""
    heard = lapwing("sub", "--url", node.url, "kept/#", "--count", str(count), "--timeout", "30")
    assert heard.returncode == 0, heard.stderr
    return sorted(int(line.split()[1]) for line in heard.stdout.splitlines())


def serve_at(marsh: Marsh, wanted: MarshNode) -> None:
    """Has this one serve; asked again where another one took over, or none has yet."""

    def serves() -> bool:
        serving = marsh.active()
        if serving is not wanted:
            call("cluster", "step-down", "--to", wanted.name, "--url", serving.http)
        return serving is wanted

    until(serves, marsh.told)


def test_the_one_that_serves_is_killed(marsh: Marsh) -> None:
    """Twice, each time another one: the next has everything, and who comes back follows."""
    publish(marsh.active(), 0)
    marsh.join()
    marsh.join()
    for turn in (1, 2):
        first = marsh.active()
        publish(first, turn * MESSAGES)
        first.kill()
        following = marsh.active()
        assert following is not first
        count = (turn + 1) * MESSAGES
        assert kept(following, count) == list(range(count))
        shown = call("cluster", "status", "--url", following.http)
        assert (shown.returncode, "down" in shown.stdout) == (1, True), shown
        first.start()
        until(lambda first=first: first.status()["leader"] is not None, marsh.told)
    until(lambda: call("cluster", "status", "--url", marsh.active().http).returncode == 0, marsh.told)


def test_stepping_down_and_leaving(marsh: Marsh) -> None:
    """Who steps down stands by, for the one that is named if one is, and says who serves; who is removed ends, with the
    words to show."""
    second, third = marsh.join(), marsh.join()
    first = marsh.active()
    for named, words in (
        ("n9", "no node 'n9' in the cluster"),
        (first.name, f"{first.name} cannot serve in place of this node: it is the one that is to step down"),
    ):
        refused = call("cluster", "step-down", "--to", named, "--url", first.http)
        assert (refused.returncode, words in one_error(refused)) == (1, True), refused
    serve_at(marsh, third)
    serve_at(marsh, first)
    asked = call("cluster", "step-down", "--url", first.http)
    assert asked.returncode == 0, asked.stderr
    until(lambda: not first.serves() and (second.serves() or third.serves()), marsh.told)
    serving = marsh.active()
    refused = call("groups", "--url", first.http)
    assert f"this node stands by: {serving.name} serves the cluster" in one_error(refused)
    removed = call("cluster", "remove", first.name, "--url", serving.http)
    assert removed.returncode == 0, removed.stderr
    assert first.process
    assert first.process.end(None) == 1
    assert any("was removed from the cluster" in line for line in first.process.errors)
    first.process = None
    unknown = call("cluster", "remove", "n9", "--url", serving.http)
    assert "no node 'n9' in the cluster" in one_error(unknown)


def test_what_does_not_join_says_why(marsh: Marsh) -> None:
    """A token twice, a mangled one, other tables, a folder with something in it; the cluster is as it was."""
    node = MarshNode(marsh.folder, "n2")
    token = marsh.token()
    refused = call("cluster", "join", token[:-4], *node.settings)
    assert (refused.returncode, "mangled" in one_error(refused)) == (1, True)
    refused = call("cluster", "join", token, *node.settings, "--set", "topics.t.durability=memory")
    assert (refused.returncode, "topics" in one_error(refused)) == (1, True)
    assert call("cluster", "join", token, *node.settings).returncode == 0
    refused = call("cluster", "join", token, *MarshNode(marsh.folder, "n3").settings)
    assert (refused.returncode, "make one with `lapwing cluster token`" in one_error(refused)) == (1, True)
    refused = call("cluster", "join", marsh.token(), *node.settings)
    assert (refused.returncode, str(node.data) in one_error(refused)) == (1, True)
    found = marsh.active().status()["nodes"]
    assert [(each["name"], each["standing"]) for each in found] == [("n1", "voter"), ("n2", "learner")]
