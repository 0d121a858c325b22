"""Is a forked command a process like one that was started?"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import LAPWING, Running, RunningBroker, clean_environment, lapwing

from lapwing import Client


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("config", "show", "--set", "broker.shards=3"), ("no-such-command",), ("user", "--help")],
)
def test_it_says_and_ends_as_one_that_was_started(arguments: tuple[str, ...], tmp_path: Path) -> None:
    variables = {"LAPWING_LIMITS__SESSIONS_MAX": "77"} if arguments[0] == "config" else {}
    forked = lapwing(*arguments, cwd=tmp_path, **variables)
    environment = clean_environment(**variables)
    started = subprocess.run(
        [*LAPWING, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)


def test_it_has_its_own_folder_and_dies_by_itself(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with (
        RunningBroker(tmp_path / "data").wait_until_ready() as other,
        Running("sub", "#", "--url", other.url, cwd=tmp_path / "own") as killed,
    ):
        deadline = time.monotonic() + 30
        while Path(f"/proc/{killed.process.pid}/cwd").readlink() != tmp_path / "own":
            assert time.monotonic() < deadline
        killed.process.kill()
        assert killed.process.wait(30) == -signal.SIGKILL
        with Client(other.url) as client:
            client.publish("t", b"x", qos=1)
        assert other.end(signal.SIGTERM) == 0
        with pytest.raises(ProcessLookupError):
            os.kill(other.process.pid, 0)
