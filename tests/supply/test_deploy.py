"""Are the service and the container what docs/operations.md says: without root, and taken by their own tools?"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lapwing.cli.app import run

DEPLOY = Path(__file__).parents[2] / "deploy"
UNIT = (DEPLOY / "lapwing.service").read_text()
CONTAINER = (DEPLOY / "Containerfile").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here to ask")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Does it know every key and value? Only the program is exchanged: it is not installed here."""
    unit = tmp_path / "lapwing.service"
    unit.write_text(UNIT.replace("/usr/local/bin/lapwing", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    own = [line for line in (done.stdout + done.stderr).splitlines() if "lapwing.service" in line]
    assert own == []
    assert done.returncode == 0, done.stderr
    unit.write_text(
        UNIT.replace("NoNewPrivileges=yes", "NoNewPrivilege=yes").replace("/usr/local/bin/lapwing", "/bin/sh")
    )
    wrong = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "NoNewPrivilege" in wrong.stderr, "this would see a key that there is not"


def test_the_unit_has_no_root() -> None:
    for line in ("User=lapwing", "NoNewPrivileges=yes", "ProtectSystem=strict", "UMask=0077"):
        assert line in UNIT.splitlines()
    assert re.search(r"^CapabilityBoundingSet=CAP_NET_BIND_SERVICE$", UNIT, re.MULTILINE)


def test_the_container_has_no_root() -> None:
    """Is the last account it runs as one by number, and not root's?"""
    assert re.findall(r"^USER (.*)$", CONTAINER, re.MULTILINE)[-1] == "10001:10001"
    assert re.search(r"useradd .*--uid 10001 .*lapwing", CONTAINER)


@pytest.mark.parametrize(
    "command",
    [
        re.findall(r"^ExecStart=\S+/lapwing (.*)$", UNIT, re.MULTILINE)[0].split(),
        re.findall(r'"([^"]+)"', re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)[0]),
    ],
    ids=["unit", "container"],
)
def test_the_program_takes_their_command(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Options that there are: it fails at the file that is not here, and at nothing before."""
    assert run(command) == 2
    assert "/etc/lapwing/lapwing.toml" in capsys.readouterr().err
