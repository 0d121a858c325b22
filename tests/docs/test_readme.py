"""Do the README's examples run as they stand? Only its fixed ports are exchanged for free ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import LAPWING, clean_environment, lapwing
from readme import Block, blocks
from web import answers

from lapwing.lab.ports import free_ports

ROOT = Path(__file__).parent.parent.parent
README = ROOT / "README.md"
DEADLINE_S = 60


@pytest.mark.parametrize("block", blocks(README, "python"), ids=lambda block: f"line-{block.line}")
def test_python_block(block: Block, tmp_path: Path) -> None:
    """Does the program run, or the test pass?"""
    file = tmp_path / "test_readme_example.py"
    file.write_text(block.code)
    program = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if "def test_" in block.code else []
    result = subprocess.run(
        [sys.executable, *program, str(file)],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("block", blocks(README, "toml"), ids=lambda block: f"line-{block.line}")
def test_toml_block(block: Block, tmp_path: Path) -> None:
    """Is the configuration in order, whoever has the ports of this machine?"""
    file = tmp_path / "lapwing.toml"
    file.write_text(block.code)
    result = lapwing("config", "check", "--running", str(file), cwd=tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The shell lines of "A broker", with the broker and the subscriber running; by their first two words."""
    ports = dict(zip(("1883", "8080"), free_ports(2), strict=True))
    text = "".join(block.code for block in blocks(README, "sh"))
    for fixed, free in ports.items():
        text = text.replace(f"127.0.0.1:{fixed}", f"127.0.0.1:{free}")
    lines = {" ".join(line.split()[:2]): line for line in text.splitlines() if line and line[0] != "#"}
    lines["http"] = f"http://127.0.0.1:{ports['8080']}"
    where = f" --set broker.http=127.0.0.1:{ports['8080']} --set broker.pin=false"
    url = f" --url tcp://127.0.0.1:{ports['1883']}"
    lines["lapwing broker"] += where
    for verb in ("sub", "pub"):
        lines[f"lapwing {verb}"] += url
    for verb in ("list", "read"):
        lines[f"lapwing stream {verb}"] = next(line for line in text.splitlines() if f"stream {verb}" in line)
        lines[f"lapwing stream {verb}"] += f" --url {lines['http']}"
    with subprocess.Popen(**shell(lines["lapwing broker"], tmp_path)) as broker:
        try:
            poll(lambda: answers(f"{lines['http']}/readyz"))
            yield lines
        finally:
            broker.terminate()
            assert broker.wait(DEADLINE_S) == 0


def test_shell_lines(commands: dict[str, str], tmp_path: Path) -> None:
    """Does a message go from `pub` to `sub` and into the stream, as the README says?"""
    subscriber = subprocess.Popen(**shell(f"{commands['lapwing sub']} --count 1", tmp_path))
    try:
        # The subscriber does not say when it is ready; a person would publish again until it has one.
        poll(lambda: run(commands["lapwing pub"], tmp_path) == "" and subscriber.poll() is not None)
        assert subscriber.stdout
        assert json.loads(subscriber.stdout.read())["payload"] == '{"hello": "world"}'
    finally:
        subscriber.kill()
        subscriber.wait()
    assert "readings" in run(commands["lapwing stream list"], tmp_path)
    first = json.loads(run(commands["lapwing stream read"], tmp_path).splitlines()[0])
    assert (first["topic"], first["payload"]) == ("spectrum/d1/readings", '{"hello": "world"}')
    if shutil.which("curl"):
        line = next(line for name, line in commands.items() if name.startswith("curl"))
        assert "# HELP lapwing_" in run(line, tmp_path)


def shell(line: str, folder: Path) -> dict[str, object]:
    """Arguments of Popen for one line of the README; `lapwing` is this environment's."""
    command = line.replace("lapwing ", f"exec {' '.join(LAPWING)} ", 1) if line.startswith("lapwing") else line
    return {
        "args": ["bash", "-c", command],
        "cwd": folder,
        "env": clean_environment(),
        "stdout": subprocess.PIPE,
        "text": True,
    }


def run(line: str, folder: Path) -> str:
    """Runs one line to its end; what it printed."""
    with subprocess.Popen(**shell(line, folder)) as process:  # type: ignore[call-overload]
        output, _ = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0, f"{line}: {output}"
        return str(output)


def poll(done: object) -> None:
    """Until `done()`, at most DEADLINE_S."""
    waited = threading.Event()
    for _ in range(DEADLINE_S * 10):
        if callable(done) and done():
            return
        waited.wait(0.1)
    raise AssertionError("the deadline has passed")
