"""``lapwing config show|check``: what is in force and where it came from; what is wrong with a file."""

from __future__ import annotations

import os
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lapwing.cli.common import ConfigFile, Settings, examples
from lapwing.cli.common import notice as say_notice

if TYPE_CHECKING:
    from lapwing.config import Config
    from lapwing.errors import LapwingError

app = typer.Typer(help="Show or check a configuration.", no_args_is_help=True)


class Format(StrEnum):
    """How ``config show`` prints."""

    toml = "toml"
    json = "json"


@app.command(
    epilog=examples(
        "lapwing config show",
        "LAPWING_BROKER__SHARDS=2 lapwing config show --config lapwing.toml",
        "lapwing config show --json | jq '.\"broker.listen\"'",
    )
)
def show(
    config: ConfigFile = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.toml,
) -> None:
    """Print every key with the value in force and where it came from: default, file and line, variable, flag.

    The TOML can be given to --config again.
    """
    from lapwing.config import load
    from lapwing.config.show import as_json, as_toml

    loaded = load(config, settings=settings)
    typer.echo(as_json(loaded) if json or form is Format.json else as_toml(loaded))


@app.command(
    epilog=examples(
        "lapwing config check lapwing.toml",
        "lapwing config check lapwing.toml --running",
        "lapwing config check lapwing.toml --set broker.http=0.0.0.0:8088",
    )
)
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Configuration, TOML.")],
    running: Annotated[
        bool, typer.Option("--running", help="A broker runs with it: leave out ports and the data folder.")
    ] = False,
    settings: Settings = [],  # noqa: B006 (typer copies it)
) -> None:
    """Read a file and what it names, and say all that a start would refuse: one line per problem, exit code 2.

    Users, certificates, keys and authorities are read, hooks and strategies are loaded, the data folder and the ports
    are looked at. Of the environment, which may say otherwise, nothing is known here; what the start is given as a
    flag, say with --set.
    """
    from lapwing.config.load import load_what_is_right
    from lapwing.errors import ConfigError

    found = load_what_is_right(file, settings)
    faults = list(found.problems)
    if (config := found.usable) is not None:
        besides, told = _looked_at(config, file, is_running=running)
        for notice in [] if faults else told:
            say_notice(notice)
        faults += found.doubt.clear(besides)
    if faults:
        raise ConfigError("a start would be refused", problems=faults)
    typer.echo(f"{file}: in order")


def _looked_at(config: Config, file: Path, *, is_running: bool) -> tuple[list[LapwingError], list[str]]:
    """What a start would refuse of what ``config`` names, and what it would say."""
    from lapwing.broker_parts import has_code
    from lapwing.config.exposure import exposures
    from lapwing.errors import ConfigError
    from lapwing.file_rights import check_files, check_kinds
    from lapwing.rehearsal.become import looked_at_account
    from lapwing.rehearsal.start import start_faults, start_notices

    try:
        check_kinds(config)
    except ConfigError as error:
        return list(error.problems), []  # nothing is read: a pipe has nobody at its other end
    account, faults, told = looked_at_account(config, file)
    told += exposures(config)
    uid = os.geteuid() if account is None else account.uid
    written: list[LapwingError] = []
    try:
        check_files(config, uid, file)
    except ConfigError as error:
        written = list(error.problems) or [error]
    # What others may write is not run, here neither: whoever checks may be root.
    besides = start_faults(config, is_running=is_running, runs_code=not (written and has_code(config)))
    try:
        told += check_files(config, uid, file)
    except ConfigError as error:
        written = list(error.problems) or [error]
    return faults + written + besides, told + start_notices(config, time.time())
