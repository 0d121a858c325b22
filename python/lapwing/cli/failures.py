"""Why a broker does not start, or has ended, in the form of its log where programs read that."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Self

import typer

from lapwing.cli.system_refusal import about_a_path
from lapwing.config.log import LogSection
from lapwing.errors import LapwingError
from lapwing.log.printer import printer_of


class Failures:
    """A block in which a broker starts and runs: with JSON as the log's form its error is a line of that, too.

    Any other error, and any other form, is the command's own to print.

    Args:
        form: As ``--log-format`` says, until the configuration is known.

    Attributes:
        form: The log's.
        subject: "start", and "end" once clients can connect.
    """

    def __init__(self, form: str | None) -> None:
        self.form = form or os.environ.get("LAPWING_LOG__FORMAT", "")
        self.subject = "start"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.form != "json":
            return
        told = about_a_path(error) if isinstance(error, OSError) else error
        if isinstance(told, LapwingError):
            printer = printer_of(LogSection(format="json"))
            for line in told.lines():
                printer.failure(line, self.subject)
            raise typer.Exit(told.exit_code) from error
