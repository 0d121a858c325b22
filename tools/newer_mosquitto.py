"""Fetches the newest Mosquitto that Debian has, with the libraries that it needs, into a folder of its own.

What a Debian release has is older; tests of neighbours want both. Nothing of this machine is changed: apt works in
that folder, with the archive that this machine uses and its keys, and the program runs with its own loader.

    python3 tools/newer_mosquitto.py FOLDER     # FOLDER/mosquitto is the program

Exit status 0: it is there. 1: it cannot be had here; one line says why.
"""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SUITE = "sid"
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LIBRARIES = f"usr/lib/{platform.machine()}-linux-gnu"
TIMEOUT_S = 600


class UnobtainableError(Exception):
    """Why it cannot be had here."""


def archive() -> str:
    """The address of Debian's archive, as this machine has it."""
    for file in (*sorted(Path("/etc/apt").glob("sources.list*/*")), Path("/etc/apt/sources.list")):
        for line in file.read_text(errors="replace").splitlines() if file.is_file() else ():
            match = re.match(r"(?:URIs:|deb(?: \[.*?\])?) +(\S+/debian)/?(?: |$)", line)
            if match:
                return match.group(1)
    raise UnobtainableError("this machine does not take its packages from Debian's archive")


def run(folder: Path, *command: str) -> str:
    """Output of a command in `folder`."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise UnobtainableError(f"{command[0]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def apt(folder: Path, program: str, *arguments: str) -> str:
    """apt with lists, sources and packages of its own."""
    options = {
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": folder / "sources",
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "",
    }
    named = [text for key, value in options.items() for text in ("-o", f"{key}={value}")]
    return run(folder / "packages", program, *named, *arguments)


def needed(folder: Path) -> list[str]:
    """Mosquitto, and every library that it or one of these needs; not the programs of a whole system."""
    wanted = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")
    told = apt(folder, "apt-cache", "depends", "--recurse", *(f"--no-{what}" for what in wanted), "mosquitto")
    names = set(re.findall(r"^([a-z0-9][a-z0-9.+-]*)$", told, re.MULTILINE))
    return sorted(name for name in names if name == "mosquitto" or name.startswith(("lib", "zlib")))


def fetch(folder: Path) -> None:
    """Fills the folder."""
    missing = [name for name in ("apt-get", "apt-cache", "dpkg-deb", "ldconfig") if shutil.which(name) is None]
    if missing or not KEYS.is_file():
        raise UnobtainableError(f"{', '.join(missing) or KEYS} is missing: this needs a Debian")
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("sources", "lists/partial", "cache/archives/partial", "packages", "root"):
        (folder / name).mkdir(parents=True)
    source = f"Types: deb\nURIs: {archive()}\nSuites: {SUITE}\nComponents: main\nSigned-By: {KEYS}\n"
    (folder / "sources/newest.sources").write_text(source)
    apt(
        folder,
        "apt-get",
        "-o",
        "Acquire::Languages=none",
        "-o",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
        "update",
    )
    apt(folder, "apt-get", "download", *needed(folder))
    for package in sorted((folder / "packages").glob("*.deb")):
        run(folder, "dpkg-deb", "-x", str(package), str(folder / "root"))
    shutil.rmtree(folder / "packages")
    run(folder, "ldconfig", "-n", str(folder / "root" / LIBRARIES))
    write_program(folder)


def write_program(folder: Path) -> None:
    """A script that runs it with its own loader and libraries."""
    libraries = folder / "root" / LIBRARIES
    loader = next(libraries.glob("ld-linux*.so.*"), None)
    if loader is None:
        raise UnobtainableError(f"there is no loader in {libraries}")
    command = shlex.join((str(loader), "--library-path", str(libraries), str(folder / "root/usr/sbin/mosquitto")))
    program = folder / "mosquitto"
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)


def version(program: Path) -> str | None:
    """What it says of itself; None: it does not run."""
    if not program.exists():
        return None
    said = subprocess.run((str(program), "-h"), capture_output=True, text=True, check=False).stdout
    match = re.search(r"mosquitto version (\S+)", said)
    return match.group(1) if match else None


def main() -> int:
    """Fetches unless it is there."""
    folder = Path(sys.argv[1]).absolute()
    program = folder / "mosquitto"
    try:
        if version(program) is None:
            fetch(folder)
        found = version(program)
        if found is None:
            raise UnobtainableError(f"{program} does not run")
    except (UnobtainableError, subprocess.TimeoutExpired, OSError) as error:
        print(f"    the newest Mosquitto is not to be had here: {error}")
        return 1
    print(f"    Mosquitto {found}: {program}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
