"""``lapwing service install``: the broker as a service of systemd."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from lapwing.cli.common import examples, notice, say
from lapwing.errors import ConfigError, LapwingError
from lapwing.regular_file import file_only, open_file
from lapwing.service.unit import CONFIG, DATA, USER, Unit

app = typer.Typer(help="Run the broker as a service of systemd.", no_args_is_help=True)

_UNITS = Path("/etc/systemd/system")
_ACCOUNTS = Path("/etc/sysusers.d")
_ANALYSE_S = 60


@app.callback()
def _group() -> None:
    """Keeps ``install`` a command of its own."""


@app.command(
    epilog=examples(
        "lapwing service install",
        "lapwing service install --print",
        "lapwing service install --config /etc/lapwing/edge.toml --data /srv/lapwing --replace",
    )
)
def install(
    config: Annotated[
        Path, typer.Option("--config", "-c", metavar="FILE", help="Configuration, a whole path.")
    ] = CONFIG,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="DIR", help=f"Data folder, a whole path; default: as the configuration says, else {DATA}."
        ),
    ] = None,
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Account, and its group.")] = USER,
    program: Annotated[
        Path | None, typer.Option("--program", metavar="FILE", help="The command; default: this one.")
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="Of the unit.")] = "lapwing",
    root: Annotated[Path, typer.Option("--root", metavar="DIR", help="Write below another root, for an image.")] = Path(
        "/"
    ),
    print_: Annotated[bool, typer.Option("--print", help="Print the unit, and write nothing.")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Write over a unit that says something else.")] = False,
) -> None:
    """Write a hardened unit and its account; nothing is started. Needs root, or --root.

    Own account, ProtectSystem=strict, no capability but that for ports below 1024, limits of descriptors, readiness and
    watchdog. Where systemd-analyze is there, it says how much is exposed.
    """
    if not name.replace("-", "").replace("_", "").isalnum() or not user.replace("-", "").replace("_", "").isalnum():
        raise ConfigError("--name and --user have letters, digits, - and _", where=f"{name!a}, {user!a}")
    if not config.is_absolute():
        raise ConfigError("--config is no whole path", where=ascii(str(config)), remedy="write it from / on")
    _check_config(config, _below(root, config))
    unit = _unit(program or _this_program(), config, _below(root, config), data, user)
    text = unit.text()
    if print_:
        typer.echo(text, nl=False)
        return
    path = _below(root, _UNITS) / f"{name}.service"
    _write(path, text, replace=replace)
    _write(_below(root, _ACCOUNTS) / f"{name}.conf", unit.account(), replace=replace)
    if unit.is_at_home():
        notice("the program, its configuration or data lie in a home: the unit reads homes (ProtectHome=read-only)")
    _analyse(path)
    say("go on with:")
    folders = [_folder_step(folder, user, root) for folder in unit.made_by_hand()]
    for step in ("systemd-sysusers", *folders, "systemctl daemon-reload", f"systemctl enable --now {name}"):
        say(f"  {step}")


def _unit(program: Path, config: Path, there: Path, data: Path | None, user: str) -> Unit:
    """The unit, with what the configuration asks for, as far as it can be read."""
    from lapwing.service.needs import Needs, needs_of

    needs = Needs()
    if there.exists():
        try:
            needs = needs_of(config, there)
        except LapwingError as error:
            notice(f"the unit has nothing of the configuration: {error.lines()[0]}")
    if data is not None and needs.data is not None and data != needs.data:
        notice(f"broker.data is {needs.data} in {config}, and the unit says {data}: what is in the first is not seen")
    return Unit(program, config, data or needs.data or DATA, user, data is not None or needs.data is None, needs)


def _folder_step(folder: Path, user: str, root: Path) -> str:
    """How a folder becomes the account's."""
    if _below(root, folder).exists():
        return f"chown -R {user}:{user} {folder}"
    return f"install -d -o {user} -g {user} -m 0700 {folder}"


def _this_program() -> Path:
    found = shutil.which(sys.argv[0]) or shutil.which("lapwing")
    if found is None or Path(found).name != "lapwing":
        beside = Path(sys.executable).parent / "lapwing"
        if not beside.exists():
            raise ConfigError("the command lapwing is not found", remedy="name it with --program")
        found = str(beside)
    return Path(found).absolute()


def _check_config(config: Path, there: Path) -> None:
    """That a unit names something which can be read as a configuration; the usual one may be written later."""
    remedy = "name the file with the configuration"
    try:
        mode = there.stat().st_mode
    except FileNotFoundError:
        if config == CONFIG:
            return
        raise ConfigError("--config is not there", where=ascii(str(there)), remedy=remedy) from None
    except OSError as error:
        raise ConfigError(f"--config: {error.strerror}", where=ascii(str(there)), remedy=remedy) from error
    if not stat.S_ISREG(mode):
        raise ConfigError("--config is no regular file", where=ascii(str(there)), remedy=remedy)


def _below(root: Path, folder: Path) -> Path:
    return root / folder.relative_to("/")


def _write(path: Path, text: str, *, replace: bool) -> None:
    # Units are everybody's to read, and so are the folders on the way to them.
    os.umask(0o022)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and _read(path) == text.encode():
            typer.echo(f"{path}: as it is")
            return
        if path.exists() and not replace:
            raise ConfigError("there is one that says something else", where=str(path), remedy="say --replace")
        with open(path, "w", encoding="utf-8", opener=file_only) as unit:
            unit.write(text)
        path.chmod(0o644)
    except OSError as error:
        remedy = "run it as root, or give --root, or --print"
        raise LapwingError(f"cannot be written: {error.strerror}", where=str(path), remedy=remedy) from error
    typer.echo(f"{path}: written")


def _read(path: Path) -> bytes:
    with open_file(path) as file:
        return file.read()


def _analyse(path: Path) -> None:
    """What systemd says of the unit, if it is there and does."""
    program = shutil.which("systemd-analyze")
    if program is None:
        say("systemd-analyze is not here: nobody says how much is exposed")
        return
    command = [program, "security", "--offline=true", "--no-pager", str(path)]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command and a path that was just written
            command, capture_output=True, text=True, timeout=_ANALYSE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"systemd-analyze security: {error}")
        return
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    overall = [line for line in lines if "Overall exposure level" in line]
    say((overall or lines[-1:] or ["systemd-analyze security says nothing"])[-1].strip())
