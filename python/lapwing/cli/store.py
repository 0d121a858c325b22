"""``lapwing store check|dump|repair|backup|restore``: a data folder from outside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import echo_json, examples
from lapwing.cli.signals import ended_as_by_ctrl_c
from lapwing.cli.store_lines import (
    Event,
    file_lines,
    finding_lines,
    group_lines,
    record_line,
    repair_lines,
    result_line,
    size,
    with_payload,
)
from lapwing.cli.store_loss import still_damaged
from lapwing.cli.store_run import Tell, run_job
from lapwing.errors import ConfigError, DataFolderError

app = typer.Typer(
    help="Look after a data folder: check, dump, repair, back up, restore.",
    no_args_is_help=True,
)

Data = Annotated[Path, typer.Argument(metavar="DATA", help="The broker's data folder.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]


@app.command(
    epilog=examples(
        "lapwing store check lapwing-data",
        "lapwing store check lapwing-data --json | jq -r 'select(.findings != []) | .path'",
    )
)
def check(data: Data, json: Json = False) -> int:
    """Read every file of a data folder that no broker uses, and say what is wrong with it.

    Checksums, the order of records, indexes, and whether the sessions, queues and retained messages can be made of it
    as a start would. Changes nothing. Exit code 0: whole; 1: something is damaged; 2: it cannot be looked at.
    """
    from lapwing._core import store_check

    def on_event(event: Event) -> None:
        if json:
            echo_json(event)
            return
        for line in _check_lines(event):
            typer.echo(line)

    whole = run_job(lambda tell: store_check(data, tell), on_event, bar="checking")
    if not whole:
        remedy = f"restore a backup, or see what can be done: lapwing store repair {data}"
        raise DataFolderError(f"{data} is damaged", remedy=remedy)
    return 0


def _check_lines(event: Event) -> list[str]:
    kind = event["event"]
    if kind == "file":
        return file_lines(event)
    if kind == "group":
        return group_lines(event)
    if kind == "groups":
        return ["         data groups", *finding_lines(event)]
    return [result_line(event)] if kind == "result" else []


@app.command(
    epilog=examples(
        "lapwing store dump lapwing-data --limit 20",
        "lapwing store dump lapwing-data --group 3 --json | jq -r .entry",
        "lapwing store dump lapwing-data --stream readings --payload",
    )
)
def dump(
    data: Data,
    group: Annotated[
        int | None, typer.Option("--group", metavar="N", min=0, max=15, help="Only this data group.")
    ] = None,
    stream: Annotated[
        str | None, typer.Option("--stream", metavar="NAME", help="This stream, not the data groups.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="Stop after N records.")] = None,
    payload: Annotated[bool, typer.Option("--payload", help="With payloads: they may be secrets.")] = False,
    json: Json = False,
) -> None:
    """Print the records of the log as they lie in the files: where, how large, whose, and what they say."""
    from lapwing._core import store_dump

    if group is not None and stream is not None:
        raise ConfigError("--group and --stream exclude each other", remedy="give one of them")
    printed = 0

    def on_event(event: Event) -> bool:
        nonlocal printed
        printed += 1
        record = with_payload(event)
        if json:
            echo_json(record)
        else:
            typer.echo(record_line(record))
        return limit is not None and printed >= limit

    run_job(lambda tell: store_dump(data, tell, group, stream, payload), on_event)


@app.command(
    epilog=examples(
        "lapwing store repair lapwing-data",
        "lapwing store repair lapwing-data --yes",
        "lapwing store repair lapwing-data --accept-loss-of log/00000000000000000002.log",
    )
)
def repair(
    data: Data,
    accept_loss_of: Annotated[
        list[str] | None,
        typer.Option(
            "--accept-loss-of", metavar="SEGMENT", help="Give up what is damaged in this segment; repeatable."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it, do not ask.")] = False,
    json: Json = False,
) -> int:
    """Put a data folder right that no broker uses: says what it would do, then asks.

    Torn tails are cut, indexes made again, what a crash left is removed: nothing that was acknowledged goes. Damage in
    the middle of a segment is given up only where --accept-loss-of names it, and only the records that cannot be read.
    """
    from lapwing._core import store_repair

    accepted = accept_loss_of or []

    def run(*, trial: bool) -> Event:
        told: list[Event] = []

        def on_event(event: Event) -> None:
            told.append(event)
            if event["event"] not in ("begin", "file"):
                _print_repair(event, json=json, trial=trial)

        def job(tell: Tell) -> bool:
            return store_repair(data, tell, accepted, trial)

        if not run_job(job, on_event, bar="looking" if trial else "repairing"):
            raise still_damaged(data)
        return told[-1]

    plan = run(trial=True)
    if not plan["changed"]:
        if not json:
            typer.echo("there is nothing to repair")
        return 0
    if not (yes or _asked()):
        typer.echo("nothing was changed", err=True)
        return 1
    run(trial=False)
    return 0


def _print_repair(event: Event, *, json: bool, trial: bool) -> None:
    if json:
        echo_json({**event, "trial": trial})
    elif trial:
        for line in repair_lines(event):
            typer.echo(line)
    elif event["event"] == "result":
        typer.echo(f"done: {event['changed']:,} changes, {event['lost']:,} records given up")


def _asked() -> bool:
    if not sys.stdin.isatty():
        what = "nothing was changed: there is no terminal to ask at"
        raise ConfigError(what, remedy="give --yes to have it done")
    return typer.confirm("Do that?", err=True)


@app.command(
    epilog=examples("lapwing store backup lapwing-data /backup/monday", "lapwing store backup lapwing-data b --json")
)
@ended_as_by_ctrl_c()
def backup(
    data: Data,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A folder that is not there yet, or is empty.")],
    json: Json = False,
) -> int:
    """Copy a data folder, also while a broker uses it, and check the copy.

    The copy has all that was acknowledged before the command began. Each stream, and the log, is as a crash at some
    moment while it was made would have left it.
    """
    from lapwing._core import store_backup

    return _copy(lambda tell: store_backup(data, target, tell), target, json=json)


@app.command(epilog=examples("lapwing store restore /backup/monday lapwing-data"))
@ended_as_by_ctrl_c()
def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="What lapwing store backup made.")],
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A folder that is not there yet, or is empty.")],
    json: Json = False,
) -> int:
    """Make a data folder of a backup, and check it."""
    from lapwing._core import store_restore

    return _copy(lambda tell: store_restore(backup, data, tell), data, json=json)


def _copy(job: Callable[[Tell], bool], target: Path, *, json: bool) -> int:
    files = copied = 0

    def on_event(event: Event) -> None:
        nonlocal files, copied
        if json:
            echo_json(event)
        if event["event"] == "copied":
            files, copied = files + 1, copied + event["bytes"]

    run_job(job, on_event, bar="copying and checking")
    if not json:
        typer.echo(f"{target}: {files:,} files, {size(copied)}, copied and checked")
    return 0
