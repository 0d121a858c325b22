"""A defect of Lapwing's own stops a running broker: what the command says, and how it ends."""

from __future__ import annotations

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


def test_only_a_defect_ends_so() -> None:
    """Can a supervisor tell a defect from everything else by its code?"""
    assert isinstance(from_core(defect()), DefectError)
    others = set(_all_below(BrokerError.__mro__[1])) - {DefectError}
    assert DefectError.exit_code not in {kind.exit_code for kind in others}


def _all_below(kind: type[Any]) -> list[type[Any]]:
    return [kind, *(lower for below in kind.__subclasses__() for lower in _all_below(below))]
