"""A defect of Lapwing's own stops a running broker: what the command says, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lapwing import broker as broker_module
from lapwing._core import CoreError, Node
from lapwing.cli.app import run
from lapwing.errors import BrokerError, DefectError, from_core

MESSAGE = r'lapwing-1 stopped unexpectedly at crates/node/src/a.rs:7, with a packet of client "a\u{1b}" in hand: no'


def defect() -> CoreError:
    error = CoreError(MESSAGE)
    error.code, error.message, error.evidence = "defect", MESSAGE, {}
    error.remedy = "Restart the node, and please report this with the message."
    return error


class NodeWithDefect:
    """A real node that says it has failed, once it has started: a release has no way to make one fail."""

    def __init__(self, *arguments: Any) -> None:
        self._node = Node(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def check(self) -> None:
        raise defect()

    def stop(self) -> None:
        self._node.stop()
        raise defect()


def test_a_defect_has_its_own_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Does the command say the place and the client in one line, and end with 70, which nothing else does?"""
    monkeypatch.setattr(broker_module, "Node", NodeWithDefect)
    flags = ("--listen", "tcp://127.0.0.1:0", "--http", "off", "--data", str(tmp_path / "data"))
    assert run(["broker", *flags]) == 70
    said = capfd.readouterr()
    assert said.out.splitlines()[-1] == "ready"
    errors = [line for line in said.err.splitlines() if line.startswith("error: ")]
    assert errors == [f"error: {MESSAGE}: Restart the node, and please report this with the message."]


def test_why_is_in_the_form_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Is each line a JSON object, for a failure, a start that is refused, and a configuration with two mistakes?"""

    def told(*flags: str) -> tuple[int, list[tuple[str, str, str]]]:
        code = run(["broker", "--http", "off", "--listen", "tcp://127.0.0.1:0", *flags])
        lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
        return code, [(line["level"], line["subject"], line["message"]) for line in lines if line["level"] == "error"]

    folder = tmp_path / "data"
    with monkeypatch.context() as patched:
        patched.setattr(broker_module, "Node", NodeWithDefect)
        code, lines = told("--data", str(folder), "--log-format", "json", "--set", "log.level=off")
        assert (code, lines) == (70, [("error", "end", f"{MESSAGE}: {defect().remedy.rstrip()}")])
    folder = tmp_path / "file"
    folder.write_text("")
    code, ((level, subject, text),) = told("--data", str(folder), "--set", "log.format=json")
    assert (code, level, subject) == (2, "error", "start")
    assert str(folder) in text
    code, lines = told("--log-format", "json", "--set", "broker.shards=x", "--set", "limits.nonsense=1")
    assert (code, [subject for _, subject, _ in lines]) == (2, ["start", "start"])


def test_only_a_defect_ends_so() -> None:
    """Can a supervisor tell a defect from everything else by its code?"""
    assert isinstance(from_core(defect()), DefectError)
    others = set(_all_below(BrokerError.__mro__[1])) - {DefectError}
    assert DefectError.exit_code not in {kind.exit_code for kind in others}


def _all_below(kind: type[Any]) -> list[type[Any]]:
    return [kind, *(lower for below in kind.__subclasses__() for lower in _all_below(below))]
