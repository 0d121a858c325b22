"""A script: lines from a pipe, one after the other, until the end or the first error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO

from lapwing.client.identity import Identity
from lapwing.errors import ConfigError, LapwingError
from lapwing.shell.parse import parse
from lapwing.shell.pipe import Pipe
from lapwing.shell.screen import Screen
from lapwing.shell.shell import Shell
from lapwing.shell.verbs import Quit

_LINE_BYTES_MAX = 268_435_455
"""No MQTT packet is longer."""


def run_script(source: BinaryIO, url: str, timeout_s: float, who: Identity, *, as_json: bool, keep_going: bool) -> int:
    """Runs the lines of ``source``; gives the exit code: that of the first error, or 0.

    An error is shown with its line number. After the first one nothing more is run, unless ``keep_going``. A
    connection that was lost while no line needed it is an error too.
    """
    output = Pipe(sys.stdout)
    shell = Shell(url, timeout_s, who, Screen(output.write, Pipe(sys.stderr).write, as_json=as_json))
    errors: list[LapwingError] = []
    try:
        for error in _run_lines(shell, source):
            shell.screen.error(error)
            errors.append(error)
            if not keep_going:
                break
            output.check()
    finally:
        goodbyes = shell.close()
    for error in goodbyes:
        shell.screen.error(error)
    output.check()
    return next((error.exit_code for error in (*errors, *shell.lost, *goodbyes)), 0)


def _run_lines(shell: Shell, source: BinaryIO) -> Iterator[LapwingError]:
    """The errors of the lines, as they happen."""
    number = 0
    while raw := source.readline(_LINE_BYTES_MAX):
        number += 1
        try:
            command = parse(_text(raw))
            if isinstance(command, Quit):
                return
            if command is not None:
                shell.run(command)
        except LapwingError as error:
            yield _at_line(error, number)


def _text(raw: bytes) -> str:
    if len(raw) == _LINE_BYTES_MAX:
        raise ConfigError(f"a line is longer than {_LINE_BYTES_MAX} bytes", remedy="use lapwing pub --file")
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"byte {error.start + 1} is no UTF-8", remedy="save the script as UTF-8") from error


def _at_line(error: LapwingError, number: int) -> LapwingError:
    """The error with its line as its place, in front of the place it had."""
    place = f", {error.where}" if error.where and error.where not in error.what else ""
    error.where = f"line {number}{place}"
    return error
