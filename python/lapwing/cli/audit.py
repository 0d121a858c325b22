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

    Exit code 0: whole; 1: a line was changed, added or taken out; 2: there is no such file.
    """
    from lapwing.audit.verify import trail_files
    from lapwing.audit.verify import verify as verify_files

    files = trail_files(file)
    if not files:
        raise ConfigError("there is no such file", where=str(file), remedy="name the trail, as audit.file does")
    try:
        found = verify_files(files, known)
    except OSError as error:
        raise LapwingError(f"cannot be read: {error.strerror}", where=str(error.filename)) from error
    broken = found.broken
    if json:
        place = broken and {"file": str(broken.file), "line": broken.line, "why": broken.why}
        echo_json(
            {
                "files": [str(path) for path in files],
                "lines": found.lines,
                "first": found.first,
                "last": found.last,
                "last_hash": found.last_hash,
                "broken": place,
            }
        )
    elif broken is not None:
        say(f"{broken.file}:{broken.line}: {broken.why}")
    else:
        late = "; older ones are gone" if found.begins_late else ""
        typer.echo(
            f"whole: {found.lines} lines, {found.first} to {found.last}{late}; the last hash is {found.last_hash}"
        )
    return 0 if broken is None else 1
