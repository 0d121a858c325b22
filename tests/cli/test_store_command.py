"""`lapwing store`: is a data folder whole, what is in it, copies, and what may be given up."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import Running, RunningBroker, call, lapwing, one_error, rows
from web import get

from lapwing import Client

STREAM = ("--set", "streams.all.filter=t/#")
WAITING = 20


def kept(url: str) -> Client:
    """The client whose session stays."""
    return Client(url, client_id="keeper", clean_start=False, session_expiry_s=3_600).connect()


def publish(url: str, numbers: range) -> None:
    """Publishes one secret for each number; returns when all are acknowledged."""
    with Client(url, client_id="publisher") as client:
        for number in numbers:
            client.publish("t/1", secret(number), qos=1)
        client.flush()


def secret(number: int) -> str:
    return f"secret-{number:05}"


def waiting(data: Path) -> list[str]:
    """What a broker on this folder has for the session, in order."""
    found: list[str] = []
    with RunningBroker(data, *STREAM).wait_until_ready() as broker:
        client = kept(broker.url)
        client.publish("t/2", "end", qos=1)
        while (message := client.receive(30)) and message.payload != b"end":
            found.append(message.payload.decode())
        client.disconnect()
        assert broker.end() == 0
    return found


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with messages that wait for a session, and in a stream."""
    data = tmp_path_factory.mktemp("store") / "data"
    with RunningBroker(data, *STREAM).wait_until_ready() as broker:
        client = kept(broker.url)
        client.subscribe("t/+", qos=1)
        client.disconnect()
        publish(broker.url, range(WAITING))
        assert broker.end() == 0
    return data


@pytest.fixture
def data(original: Path, tmp_path: Path) -> Path:
    """A copy to spoil."""
    return Path(shutil.copytree(original, tmp_path / "data"))


def spoil(data: Path, text: str, folder: str = "log") -> str:
    """Changes a bit of a message; returns the segment's path from the data folder on."""
    for file in sorted((data / folder).rglob("*.log")):
        contents = bytearray(file.read_bytes())
        if (at := contents.find(text.encode())) >= 0:
            contents[at] ^= 0x20
            file.write_bytes(contents)
            return str(file.relative_to(data))
    raise AssertionError(f"{text} is in no file")


def events(result: Any, kind: str) -> list[dict[str, Any]]:
    return [row for row in map(json.loads, result.stdout.splitlines()) if row["event"] == kind]


def test_a_whole_folder(data: Path) -> None:
    """Is each file named with what it holds, and nothing written?"""
    before = {file: file.stat().st_mtime_ns for file in data.rglob("*")}
    text = lapwing("store", "check", str(data))
    assert (text.returncode, text.stderr) == (0, "")
    assert "ok       segment  log/00000000000000000001.log" in text.stdout
    assert f"{WAITING} messages wait" in text.stdout
    assert text.stdout.splitlines()[-1].endswith(": whole")
    told = rows(lapwing("store", "check", str(data), "--json"))
    assert {"begin", "file", "group", "result"} == {row["event"] for row in told}
    assert told[-1]["damaged"] == 0
    assert {file: file.stat().st_mtime_ns for file in data.rglob("*")} == before


def test_a_damaged_folder(data: Path) -> None:
    """Are file and byte named, is the exit code 1, and is the remedy in the error?"""
    path = spoil(data, secret(3))
    result = call("store", "check", str(data))
    assert result.returncode == 1
    line = next(line for line in result.stdout.splitlines() if line.startswith("DAMAGED"))
    assert path in line
    assert "the checksum does not fit the record" in result.stdout
    assert result.stderr.startswith("error: ")
    assert "lapwing store repair" in result.stderr
    damaged = events(call("store", "check", str(data), "--json"), "file")
    assert [row["path"] for row in damaged if row["findings"]] == [path]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_checked(data: Path) -> None:
    for path in [data, *data.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert call("store", "check", str(data)).returncode == 0
        refused = call("store", "repair", str(data), "--yes")
        assert refused.returncode in (0, 1)
    finally:
        for path in [data, *data.rglob("*")]:
            path.chmod(0o755)


def test_dump(data: Path) -> None:
    """Is every entry a line that says what it means, without payloads unless they are asked for?"""
    text = call("store", "dump", str(data)).stdout
    assert "Opened client_id=keeper" in text
    assert text.count("Published topic=t/1") == WAITING
    assert "secret" not in text
    assert f"payload={secret(7)}" in call("store", "dump", str(data), "--payload").stdout
    assert len(call("store", "dump", str(data), "--limit", "3").stdout.splitlines()) == 3
    published = [row for row in rows(call("store", "dump", str(data), "--json")) if row.get("entry") == "Published"]
    group = published[0]["group"]
    some = rows(call("store", "dump", str(data), "--group", str(group), "--json", "--payload"))
    assert {row["group"] for row in some} == {group}
    assert [row["payload"] for row in some if row.get("entry") == "Published"] == list(map(secret, range(WAITING)))
    stream = rows(call("store", "dump", str(data), "--stream", "all", "--json"))
    assert [row["offset"] for row in stream] == list(range(WAITING))


@pytest.mark.parametrize(
    ("arguments", "what", "code"),
    [
        (["check"], "DATA", 2),
        (["check", "nowhere"], "nowhere is no data folder", 2),
        (["check", "DATA/streams"], "is no data folder", 2),
        (["dump", "DATA", "--group", "16"], "less than or equal to 15", 2),
        (["dump", "DATA", "--stream", "none"], "all", 2),
        (["dump", "DATA", "--stream", "all", "--group", "1"], "exclude each other", 2),
        (["dump", "DATA", "--limit", "0"], "greater than or equal to 1", 2),
        (["repair", "nowhere", "--yes"], "nowhere is no data folder", 2),
        (["repair", "DATA", "--accept-loss-of", "log/9.log"], "there is no segment log/9.log", 2),
        (["repair", "DATA", "--accept-loss-of", "meta"], "there is no segment meta", 2),
        (["backup", "DATA"], "TARGET", 2),
        (["backup", "nowhere", "copy"], "nowhere is no data folder", 2),
        (["backup", "DATA", "DATA/copy"], "lies in the folder that is to be copied", 2),
        (["backup", "DATA", "DATA"], "lies in the folder that is to be copied", 2),
        (["restore", "nowhere", "copy"], "nowhere is no data folder", 2),
        (["restore", "DATA", "full"], "full is not empty", 2),
        (["restore", "DATA", "full/something"], "full/something is a file", 2),
        (["check", "full/something"], "full/something is no data folder", 2),
        (["check", "theirs"], "theirs is no data folder", 2),
        (["repair", "theirs", "--yes"], "theirs is no data folder", 2),
        (["backup", "theirs", "copy"], "theirs is no data folder", 2),
        (["chek", "DATA"], "check", 2),
    ],
)
def test_mistyped(data: Path, tmp_path: Path, arguments: list[str], what: str, code: int) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    (tmp_path / "theirs" / "log").mkdir(parents=True)
    (tmp_path / "theirs" / "log" / "syslog").touch()
    words = [word.replace("DATA", str(data)) for word in arguments]
    result = call("store", *words, cwd=tmp_path)
    assert result.returncode == code
    assert what in one_error(result)
    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "nowhere").exists()


def test_a_broker_in_the_folder(data: Path, tmp_path: Path) -> None:
    """Is everything but a backup refused while a broker uses it, with what to do?"""
    with RunningBroker(data, *STREAM).wait_until_ready() as broker:
        for command in (["check"], ["dump"], ["repair", "--yes"]):
            result = call("store", command[0], str(data), *command[1:])
            assert result.returncode == 2
            error = one_error(result)
            assert f"process {broker.process.pid}" in error
            assert "lapwing store backup" in error
        assert call("store", "backup", str(data), str(tmp_path / "copy")).returncode == 0
        assert broker.end() == 0
    assert (data / "lock").read_text() == "", "who sends a signal there would end somebody else"
    assert call("store", "check", str(tmp_path / "copy")).returncode == 0


def test_a_backup_under_load(data: Path, tmp_path: Path) -> None:
    """Has the broker that starts on what is restored everything that was acknowledged before the backup began?"""
    copy, restored = tmp_path / "copy", tmp_path / "restored"
    acknowledged = WAITING
    with RunningBroker(data, *STREAM).wait_until_ready() as broker:
        publish(broker.url, range(acknowledged, 500))
        acknowledged = 500
        load = threading.Thread(target=publish, args=(broker.url, range(acknowledged, 5_000)))
        load.start()
        made = lapwing("store", "backup", str(data), str(copy), "--json")
        load.join()
        assert made.returncode == 0, made.stderr
        assert events(made, "copied")
        assert broker.end(signal.SIGKILL) == -signal.SIGKILL
    done = lapwing("store", "restore", str(copy), str(restored))
    assert (done.returncode, done.stderr) == (0, "")
    assert "copied and checked" in done.stdout
    found = waiting(restored)
    assert len(found) >= acknowledged
    assert found == list(map(secret, range(len(found))))
    assert not list(tmp_path.glob("*.partial"))


def test_repair_without_damage(data: Path) -> None:
    """Are a torn tail and a lost index put right, and is it said before?"""
    assert call("store", "repair", str(data)).stdout == "there is nothing to repair\n"
    (data / "log" / "00000000000000000009.tmp").write_bytes(b"half")
    asked = call("store", "repair", str(data), stdin=b"")
    assert asked.returncode == 2
    assert "mended   removed log/00000000000000000009.tmp" in asked.stdout
    assert "--yes" in asked.stderr
    assert (data / "log" / "00000000000000000009.tmp").exists()
    done = call("store", "repair", str(data), "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "done: 1 changes, 0 records given up" in done.stdout
    assert not (data / "log" / "00000000000000000009.tmp").exists()


def test_repair_gives_nothing_up_by_itself(data: Path) -> None:
    path = spoil(data, secret(3))
    before = (data / path).read_bytes()
    result = call("store", "repair", str(data), "--yes")
    assert result.returncode == 1
    assert f"DAMAGED  segment  {path}" in result.stdout
    assert "--accept-loss-of" in result.stderr
    assert (data / path).read_bytes() == before


def test_repair_gives_up_what_is_named(data: Path) -> None:
    """Is it listed first, is only that gone, and does the broker go on with the rest?"""
    path = spoil(data, secret(3))
    arguments = ("store", "repair", str(data), "--accept-loss-of", path)
    asked = call(*arguments, stdin=b"")
    assert asked.returncode == 2
    assert f"lost     {path}: 1 entries" in asked.stdout
    assert "perhaps: Published topic=t/1" in asked.stdout
    assert call("store", "check", str(data)).returncode == 1, "nothing was changed"
    done = call(*arguments, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert [loss["count"] for loss in events(done, "loss") if not loss["trial"]] == [1]
    assert call("store", "check", str(data)).returncode == 0
    assert waiting(data) == [secret(number) for number in range(WAITING) if number != 3]


def test_a_lost_message_of_a_stream(data: Path) -> None:
    """Do readers pass over it, and does its offset stay its own?"""
    path = spoil(data, secret(3), "streams")
    assert call("store", "repair", str(data), "--accept-loss-of", path, "--yes").returncode == 0
    with RunningBroker(data, *STREAM).wait_until_ready() as broker:
        found = rows(call("stream", "read", "all", "0", "--json", "--url", broker.http))
        assert [row["offset"] for row in found] == [number for number in range(WAITING) if number != 3]
        assert broker.end() == 0


@pytest.fixture
def refused(data: Path) -> tuple[Path, str]:
    """A folder on which a broker does not start, and the segment to blame."""
    path = spoil(data, secret(3))
    with Running("broker", "--listen", "tcp://127.0.0.1:0", "--http", "off", "--data", str(data)) as broker:
        assert broker.end(None) == 1
        errors = [line for line in broker.errors if line.startswith("error: ")]
    assert len(errors) == 1
    assert Path(path).name in errors[0]
    assert "--accept-loss-of" in errors[0]
    return data, path


def test_a_broker_that_is_told_to_go_on(refused: tuple[Path, str], tmp_path: Path) -> None:
    """Does it start without what is damaged, say what that was, count it, and does the audit trail have it?"""
    data, path = refused
    trail = tmp_path / "audit.jsonl"
    flags = ("--accept-loss-of", path, "--set", f"audit.file={trail}")
    with RunningBroker(data, *STREAM, *flags).wait_until_ready() as broker:
        assert metrics(broker.http)["lapwing_journal_lost_entries"] == 1
        assert broker.end() == 0
    notices = [line for line in broker.errors if line.startswith("notice: lost")]
    assert any(f"{path}: 1 entries" in line for line in notices)
    assert '"event":"losses_accepted","entries":1' in trail.read_text()
    assert waiting(data) == [secret(number) for number in range(WAITING) if number != 3]


def metrics(http: str) -> dict[str, float]:
    lines = [line for line in get(f"{http}/metrics").text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_a_broker_is_told_a_wrong_segment(data: Path) -> None:
    result = lapwing("broker", "--data", str(data), "--http", "off", "--accept-loss-of", "log/7.log")
    assert result.returncode == 2
    assert "there is no segment log/7.log" in one_error(result)
