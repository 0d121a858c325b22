"""A part as a process: ready, heard, ended by itself, stopped."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lapwing.errors import TimedOutError
from lapwing.lab.crowdsourcing.family import Family
from lapwing.lab.crowdsourcing.part import Part, PartEndedError, environment, says
from lapwing.lab.crowdsourcing.watch import Stress, Watch


def part(program: str, *, ready_s: float = 20.0) -> Part:
    return Part("one", "broker", (sys.executable, "-c", program), says("ready"), ready_s=ready_s, end_s=20.0)


READY = 'import sys; print(\'{"event": "ready"}\', flush=True); sys.stdin.readline(); '


def test_it_is_ready_hears_and_ends(tmp_path: Path) -> None:
    process = part(READY + "print('{\"rows\": 3}\\nno JSON', flush=True); sys.stdin.readline()").start(tmp_path)
    process.tell({"go": True})
    heard: list[dict[str, object]] = []
    while not heard:
        heard = process.heard()
    assert heard == [{"rows": 3}]
    process.tell({"end": True})
    assert process.stop() in (0, -15)
    process.tell({"nobody": "hears this"})


def test_one_that_ends_by_itself_says_so_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(PartEndedError, match=r"one ended with code 3.*out of luck"):
        part("import sys; sys.stderr.write('out of luck'); sys.exit(3)").start(tmp_path)


def test_one_that_is_never_ready_is_given_up_and_ended(tmp_path: Path) -> None:
    with pytest.raises(TimedOutError, match=r"not ready within 0.2 s"):
        part("import time; time.sleep(60)", ready_s=0.2).start(tmp_path)


ORPHAN = """\
import subprocess, sys, time
sleeper = "import time; time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)
print('{"child": %d}' % child.pid, flush=True)
print('{"event": "ready"}', flush=True)
time.sleep(600)
"""


def test_no_child_outlives_it_whatever_session_it_is_in(tmp_path: Path) -> None:
    process = part(ORPHAN).start(tmp_path)
    child = json.loads((tmp_path / "one.out").read_text().splitlines()[0])["child"]
    family = Family(process.pid)
    assert family.left() == [child]
    process.stop(hurry=True)
    assert family.left() == []


def test_the_watch_notices(tmp_path: Path) -> None:
    process = part(READY + "sys.exit(4)").start(tmp_path)
    watch = Watch([process])
    watch.look()
    assert watch.stress["one"].rss_bytes > 0
    process.tell({"end": True})
    with pytest.raises(PartEndedError, match="code 4"):  # noqa: PT012 (until it is seen)
        while True:
            watch.look()


def test_the_watch_tells_idle_from_busy(tmp_path: Path) -> None:
    burn = "import time; end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n"
    process = part(READY + burn + "print('{\"rows\": 1}', flush=True); sys.stdin.readline()").start(tmp_path)
    watch = Watch([process])
    watch.begin()
    while watch.cores()["one"] > 0.05:  # what it did to start counts for nothing
        watch.begin()
    idle = watch.cores()["one"]
    watch.begin()
    process.tell({"burn": True})
    while not process.heard():
        watch.look()
    busy = watch.cores()["one"]
    process.stop()
    assert idle < busy
    assert Stress("one", "broker", idle, busy).to_json()["cpu_cores"] == round(busy, 4)


def test_settings_of_the_user_do_not_reach_parts() -> None:
    own = {"PATH": "/bin", "LAPWING_BROKER__LISTEN": "tcp://127.0.0.1:1", "LAPWING_KAFKA_JARS": "/jars"}
    assert environment(own) == {"PATH": "/bin", "LAPWING_KAFKA_JARS": "/jars"}
