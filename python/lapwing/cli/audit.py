"""``lapwing audit verify``: whether an audit trail is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import echo_json, examples, say
from lapwing.errors import ConfigError, LapwingError

app = typer.Typer(help="Check an audit trail.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keeps ``verify`` a command of its own."""


@app.command(
    epilog=examples(
        "lapwing audit verify audit.jsonl",
        "lapwing audit verify audit.jsonl --known 5f1c...",
    )
)
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The trail, as audit.file names it.")],
    known: Annotated[
        str | None,
        typer.Option("--known", metavar="HASH", help="A line's hash that was kept elsewhere: it must be there."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Look at each line of a trail and of the older files beside it, and say where its chain breaks.

    A broker may go on writing it. Lines that are missing at the front are no break, nor are those missing at the end:
    --known shows the latter.

    Exit code 0: whole; 1: a line was changed, added or taken out; 2: there is no such file.
    """
    from lapwing.audit.verify import verify as verify_files

    file.exists()  # a name that the system refuses is told of as all such paths are
    try:
        found = verify_files(file, known)
    except OSError as error:
        raise LapwingError(f"cannot be read: {error.strerror}", where=str(error.filename)) from error
    if not found.files:
        raise ConfigError("there is no such file", where=str(file), remedy="name the trail, as audit.file does")
    broken = found.broken
    if json:
        place = broken and {"file": str(broken.file), "line": broken.line, "why": broken.why}
        echo_json(
            {
                "files": [str(path) for path in found.files],
                "lines": found.lines,
                "first": found.first,
                "last": found.last,
                "last_hash": found.last_hash,
                "ends_in_half": found.ends_in_half,
                "broken": place,
            }
        )
    elif broken is not None:
        say(f"{broken.file}:{broken.line}: {broken.why}")
    else:
        late = f"; those before {found.first} are gone" if found.begins_late else ""
        half = "; half a line follows" if found.ends_in_half else ""
        numbers = f"{found.lines} lines, {found.first} to {found.last}"
        typer.echo(f"whole: {numbers}{late}; the last hash is {found.last_hash}{half}")
    return 0 if broken is None else 1
