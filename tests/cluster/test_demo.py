"""`lapwing cluster demo`: does it kill, take over, count, and clean up behind itself?"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

from commands import LAPWING, Running, call, clean_environment, one_error

SHORT = ("--clients", "12", "--kills", "1", "--seconds", "3", "--rate", "200")
PATIENCE_S = 110
"""Only reached on failure."""


def processes_of(folder: str) -> list[str]:
    """Command lines that name it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        if folder in line:
            found.append(line)
    return found


def test_one_kill_told() -> None:
    """Line by line, and the verdict last; nothing is left of it."""
    with Running("cluster", "demo", *SHORT) as demo:
        lines = [demo.line()]
        while " lost, " not in lines[-1]:
            lines.append(demo.line())
        assert demo.end(None) == 0, demo.errors
    told = "\n".join(lines)
    found = re.search(r"three nodes in (\S+)", told)
    assert found
    assert processes_of(found[1]) == []
    assert not Path(found[1]).exists()
    assert re.search(r"(n\d) serves, and is killed under load", told)
    assert re.search(r"n\d serves: first CONNACK \d+\.\d\d s after the kill, first acknowledgement \d+\.\d\d s", told)
    assert re.search(r"n\d was started again, and has caught up", told)
    assert re.fullmatch(r"[\d,]+ acknowledged, [\d,]+ delivered: 0 lost, 0 twice", lines[-1])


def test_one_kill_as_json(tmp_path: Path) -> None:
    """One object, and a folder with the nodes' files, which is kept where it was asked for."""
    out = tmp_path / "marsh"
    ended = subprocess.run(
        [*LAPWING, "cluster", "demo", *SHORT, "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=clean_environment(),
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == f"notice: the nodes' logs, configurations and data are in {out}\n"
    told = json.loads(ended.stdout)
    assert (told["clients"], told["lost"], told["twice"], told["sessions_lost"]) == (12, 0, 0, 0)
    assert told["qos_1"]["acknowledged"] > 0
    assert told["qos_2"]["acknowledged"] > 0
    assert told["acknowledged"] == told["qos_1"]["acknowledged"] + told["qos_2"]["acknowledged"]
    (outage,) = told["outages"]
    assert outage["killed"] != outage["successor"]
    assert 0 < outage["connack_s"] <= outage["acknowledged_s"] <= outage["caught_up_s"]
    assert {path.name for path in out.iterdir()} == {f"n{n}{end}" for n in (1, 2, 3) for end in ("", ".toml", ".log")}


def test_ctrl_c_ends_all_processes() -> None:
    with Running("cluster", "demo", "--clients", "4", "--seconds", "600") as demo:
        folder = demo.line().rpartition(" ")[2]
        while "clients with kept sessions are connected" not in demo.line():
            pass
        assert len(processes_of(folder)) == 3
        assert demo.end(signal.SIGINT) == 130
    assert processes_of(folder) == []
    assert not Path(folder).exists()


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    assert "give an even number" in one_error(call("cluster", "demo", "--clients", "3"))
    (tmp_path / "mine").write_text("mine")
    assert "no empty folder" in one_error(call("cluster", "demo", "--out", str(tmp_path)))
