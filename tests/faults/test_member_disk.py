"""The disk of who serves a cluster does not return: what do clients feel of that, if two other nodes have it all?"""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import call, lapwing
from faulty_disk import FaultyDisk
from marsh import Host, Marsh, MarshNode, until

from lapwing import Client
from lapwing.errors import TimedOutError

MESSAGES = 100
BODY = bytes(60 << 10)
"""Of these a hundred are several times what memory may hold here."""


class _FaultyHost(Host):
    def __init__(self, disk: FaultyDisk) -> None:
        self._disk = disk

    def variables(self) -> dict[str, str]:
        return self._disk.variables


class _Marsh(Marsh):
    """Whose first node has a disk with faults."""

    def __init__(self, folder: Path, disk: FaultyDisk) -> None:
        super().__init__(folder)
        self._disk = disk

    def make(self, name: str) -> MarshNode:
        host = _FaultyHost(self._disk) if name == "n1" else None
        return MarshNode(self.folder, name, host, ("--set", "cluster.tail_bytes=1MiB"))


def publish(client: Client, first: int, body: bytes) -> None:
    """Retained messages on topics of their own."""
    for number in range(first, first + MESSAGES):
        client.publish(f"kept/{number}", b"%d %s" % (number, body), qos=1, retain=True)


def kept(url: str, count: int) -> list[int]:
    """What a new subscriber hears."""
    heard = lapwing("sub", "--url", url, "kept/#", "--count", str(count), "--timeout", "30")
    assert heard.returncode == 0, heard.stderr
    return sorted(int(line.split()[1]) for line in heard.stdout.splitlines())


def test_the_others_disks_are_enough(disk: FaultyDisk, tmp_path: Path) -> None:
    """What is acknowledged while the own disk stands still is at the next node when this one is killed."""
    with _Marsh(tmp_path, disk) as marsh:
        marsh.join()
        marsh.join()
        first = marsh.active()
        assert first.name == "n1"
        disk.begin("hung")
        with Client(first.url, client_id="publisher") as client:
            publish(client, 0, b"")
            client.flush(30)
        first.kill()
        disk.end("hung")
        following = marsh.active()
        assert kept(following.url, MESSAGES) == list(range(MESSAGES))
        first.start()
        until(lambda: call("cluster", "status", "--url", marsh.active().http).returncode == 0, marsh.told)


def test_memory_holds_what_it_may(disk: FaultyDisk, tmp_path: Path) -> None:
    """Publishers wait once so much is not on the own disk, and are all acknowledged when that returns."""
    with _Marsh(tmp_path, disk) as marsh:
        marsh.join()
        marsh.join()
        first = marsh.active()
        with Client(first.url, client_id="publisher") as client:
            disk.begin("hung")
            publish(client, 0, BODY)
            with pytest.raises(TimedOutError):
                client.flush(3.0)
            disk.end("hung")
            client.flush(30)
        assert first.serves()
        assert kept(first.url, MESSAGES) == list(range(MESSAGES))
