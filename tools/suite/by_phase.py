"""Which files have tests of a phase, before they are read: the import of all of them takes each worker some seconds."""

from __future__ import annotations

from pathlib import Path

JVM_FOLDERS = ("pipeline", "bridge", "faults_kafka", "interop")
"""Folders of `tests`. Their tests start a JVM, or compute beside one: `tests/conftest.py` marks them all."""
MARK = "mark.jvm"
"""Stands in a file elsewhere that marks some of its tests itself."""
JVM, WAITING = "jvm and ", "not jvm and "
"""How the expressions over markers begin that the suite gives to pytest."""


def has_none_of(which: str, file: Path) -> bool:
    """Whether no test of a file can be of the phase that the expression ``which`` is for."""
    is_jvm = file.parent.name in JVM_FOLDERS and file.parent.parent.name == "tests"
    if which.startswith(WAITING):
        return is_jvm
    return which.startswith(JVM) and not is_jvm and MARK not in file.read_text()
