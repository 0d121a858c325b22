"""Do the examples of docs/*.md run as they stand, in the order of the page? Only fixed ports are exchanged.

A page is run as a reader would: in one folder, block after block. ```sh is shell that must succeed; a block that
begins with `lapwing broker` starts a broker that runs until the page ends. ```python is a program, or tests. ```toml
is a configuration that `config check` accepts; with the note `form` it names what is not here, and is only read. The
note `spark` behind the language says that it needs Java. ```console is shell that is only parsed, for what needs more
machine or time than a test has. ```text and ```json are output.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import LAPWING, clean_environment, lapwing
from pages import PAGES
from readme import Block, all_blocks
from test_readme import poll
from web import answers

from lapwing.lab.ports import free_ports

RUN = ("sh", "python", "toml")
DEADLINE_S = 240
_FOR_NODES = "127.0.0.1:1890"


def runnable() -> Iterator[object]:
    """Pages with something to run; those that need Java take half a minute each, and so does that of the lab."""
    for page in PAGES:
        found = [block for block in all_blocks(page) if block.language in RUN]
        marks = [pytest.mark.jvm, pytest.mark.slow] if any(block.note == "spark" for block in found) else []
        if page.name == "lab.md":
            marks = [pytest.mark.slow]
        if found:
            yield pytest.param(page, found, id=page.name, marks=marks)


@pytest.mark.timeout(2 * DEADLINE_S)
@pytest.mark.parametrize(("page", "found"), list(runnable()))
def test_page(page: Path, found: list[Block], tmp_path: Path) -> None:
    if any(block.note == "spark" for block in found) and not shutil.which("java"):
        pytest.skip("some of it needs Java")
    with Reader(tmp_path) as reader:
        for block in found:
            reader.follow(page, block)


class Reader:
    """Somebody who does what a page says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        mqtt, http, peers = (f"127.0.0.1:{port}" for port in free_ports(3))
        self._ports = {"127.0.0.1:1883": mqtt, "127.0.0.1:8080": http, _FOR_NODES: peers}
        self._environment = clean_environment(
            LAPWING_URL=f"tcp://{mqtt}",
            LAPWING_HTTP_URL=f"http://{http}",
            LAPWING_BROKER__LISTEN=f'["tcp://{mqtt}"]',
            LAPWING_BROKER__HTTP=http,
            LAPWING_BROKER__PIN="false",
            PATH=f"{self._command_folder()}:{os.environ['PATH']}",
        )
        self._http = f"http://{http}"
        self._broker: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.end_broker()

    def follow(self, page: Path, block: Block) -> None:
        """Does one block."""
        code = block.code
        for fixed, free in self._ports.items():
            code = code.replace(fixed, free)
        place = f"{page.name}, line {block.line}"
        if block.language == "sh" and code.startswith("lapwing broker"):
            self.start_broker(code)
        elif block.language == "sh":
            self._run(["bash", "-euo", "pipefail", "-c", code], place)
        elif block.language == "python":
            self._python(code, place)
        else:
            # Listeners of clients come from the environment.
            text = block.code.replace(_FOR_NODES, self._ports[_FOR_NODES])
            (self.folder / "lapwing.toml").write_text(text)
            # The page's broker has the folder that this file may name too, others of this machine the ports. Nor need
            # this machine have the account that a page makes.
            look = ["show", "--config"] if block.note == "form" else ["check", "--running", "--set", "broker.user=off"]
            result = lapwing("config", *look, "lapwing.toml", cwd=self.folder)
            assert result.returncode == 0, f"{place}: {result.stderr}"

    def start_broker(self, code: str) -> None:
        """Runs a broker beside what follows, in place of one before."""
        self.end_broker()
        self._broker = subprocess.Popen(["bash", "-c", f"exec {code}"], cwd=self.folder, env=self._environment)
        poll(lambda: answers(f"{self._http}/readyz"))

    def end_broker(self) -> None:
        """Ends it in order, if there is one and the page has not killed it."""
        broker, self._broker = self._broker, None
        if broker:
            broker.terminate()
            assert broker.wait(DEADLINE_S) in (0, -signal.SIGKILL)

    def _python(self, code: str, place: str) -> None:
        file = self.folder / "test_example.py"
        file.write_text(code)
        program = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if "def test_" in code else []
        self._run([sys.executable, *program, str(file)], place)

    def _run(self, command: list[str], place: str) -> None:
        result = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, timeout=DEADLINE_S, check=False
        )
        assert result.returncode == 0, f"{place}: {(result.stdout + result.stderr).decode(errors='replace')}"

    def _command_folder(self) -> Path:
        """A folder with `lapwing` and `python` of this environment, whatever stands on the path."""
        folder = self.folder / "bin"
        folder.mkdir()
        for name, command in (("lapwing", LAPWING), ("python", [sys.executable])):
            (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
            (folder / name).chmod(0o755)
        return folder
