"""Prepares a machine for Lapwing's `make` targets: checks what is needed, installs what it may, else says what to do.

Run by the Makefile with any Python 3.11+, before the virtual environment exists: standard library only.

    python3 tools/prepare.py java browser ...     # each is checked, then installed with apt where this user is root
    python3 tools/prepare.py --list

Exit status 0: all are there. 1: something is missing; one line each says what and how to get it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LOG = Path(".cache/prepare.log")


@dataclass(frozen=True)
class Need:
    """One thing that must be on the machine: how to see it, and the Debian packages that bring it."""

    why: str
    found: Callable[[], str | None]
    packages: tuple[str, ...]
    by_hand: str


def version_of(*command: str) -> str | None:
    """First version number that `command` prints, or None where it is not there or does not run."""
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Java says first which options it was given by the environment, with numbers of their own.
    said = [line for line in (done.stdout + done.stderr).splitlines() if "Picked up " not in line]
    match = re.search(r"\d+(\.\d+)+|\d+", "\n".join(said))
    return match.group() if match and done.returncode == 0 else None


def at_least(minimum: int, *command: str) -> Callable[[], str | None]:
    """A check that `command` is there with a major version of `minimum` or above."""

    def found() -> str | None:
        version = version_of(*command)
        return version if version and int(version.split(".")[0]) >= minimum else None

    return found


def rust() -> str | None:
    """Cargo 1.89 or above."""
    version = version_of("cargo", "--version")
    return version if version and tuple(map(int, version.split(".")[:2])) >= (1, 89) else None


def any_of(*names: str) -> Callable[[], str | None]:
    """A check that one of the programs `names` is on the PATH (or in /usr/sbin, where Debian puts servers)."""

    def found() -> str | None:
        return next((name for name in names if shutil.which(name) or Path("/usr/sbin", name).exists()), None)

    return found


def header(name: str) -> Callable[[], str | None]:
    """A check that the C compiler finds the header `name`."""

    def found() -> str | None:
        compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
        if compiler is None:
            return None
        program = f"#include <{name}>\n"
        done = subprocess.run(
            [compiler, "-E", "-x", "c", "-"], input=program, capture_output=True, text=True, check=False
        )
        return name if done.returncode == 0 else None

    return found


NEEDS = {
    "rust": Need("builds the broker", rust, (), "install Rust 1.89 or later with rustup (https://rustup.rs)"),
    "compiler": Need("links the broker", any_of("cc", "gcc", "clang"), ("gcc", "libc6-dev"), "install gcc or clang"),
    "java": Need(
        "runs Apache Spark",
        at_least(17, "java", "-version"),
        ("openjdk-17-jre-headless",),
        "install a Java runtime, 17 or later (Debian: openjdk-17-jre-headless), and put `java` on the PATH",
    ),
    "node": Need(
        "runs MQTT.js in the interoperability tests",
        at_least(18, "node", "--version"),
        ("nodejs",),
        "install Node.js 18 or later",
    ),
    "npm": Need("installs MQTT.js for the interoperability tests", any_of("npm"), ("npm",), "install npm"),
    "javac": Need(
        "compiles the Java client of the interoperability tests",
        at_least(17, "javac", "-version"),
        ("openjdk-17-jdk-headless",),
        "install a Java development kit, 17 or later (Debian: openjdk-17-jdk-headless)",
    ),
    "maven": Need(
        "fetches the Java client's jars for the interoperability tests",
        any_of("mvn"),
        ("maven",),
        "install Apache Maven, as `mvn` on the PATH",
    ),
    "paho-c": Need(
        "Paho's C library, for the interoperability tests",
        header("MQTTClient.h"),
        ("libpaho-mqtt-dev",),
        "install Eclipse Paho's C library 1.3.12 or later with its headers (Debian: libpaho-mqtt-dev)",
    ),
    "browser": Need(
        "opens report.html and a page with MQTT.js in the tests",
        any_of("chromium"),
        ("chromium",),
        "install Chromium, as `chromium` on the PATH",
    ),
    "mosquitto": Need(
        "a second broker and its clients, for tests and benchmarks",
        any_of("mosquitto"),
        ("mosquitto",),
        "install Mosquitto (the server)",
    ),
    "mosquitto-clients": Need(
        "C clients for the interoperability tests",
        any_of("mosquitto_pub"),
        ("mosquitto-clients",),
        "install mosquitto_pub and mosquitto_sub",
    ),
    "haproxy": Need(
        "a load balancer before a cluster, for tests",
        any_of("haproxy"),
        ("haproxy",),
        "install HAProxy 2.6 or later",
    ),
}


def say(state: str, name: str, text: str) -> None:
    """One line of progress."""
    print(f"  {state:<9} {name:<18} {text}", flush=True)


def apt_install(packages: list[str]) -> bool:
    """Installs Debian packages without a question; what apt says goes to LOG. False where it failed."""
    LOG.parent.mkdir(exist_ok=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    with LOG.open("ab") as log:
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *packages]):
            done = subprocess.run(command, stdout=log, stderr=log, env=environment, check=False)
    return done.returncode == 0


def may_install() -> bool:
    """True where packages can be installed without asking: Debian's apt, and this user is root."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def prepare(names: list[str]) -> int:
    """Checks each of `names`, installs the missing ones where that is possible. Returns how many are missing."""
    missing = []
    for name in names:
        version = NEEDS[name].found()
        if version is None:
            missing.append(name)
        else:
            say("found", name, version)
    packages = [package for name in missing for package in NEEDS[name].packages]
    if packages and may_install():
        say("install", ", ".join(missing), f"apt-get install {' '.join(packages)}")
        if not apt_install(packages):
            say("failed", "apt-get", f"see the end of {LOG}")
    missing = [name for name in missing if NEEDS[name].found() is None]
    for name in missing:
        say("MISSING", name, f"{NEEDS[name].why}: {NEEDS[name].by_hand}, then run make again")
    return len(missing)


def main(arguments: list[str]) -> int:
    """Command line: names of needs, or --list."""
    if arguments == ["--list"]:
        for name, need in NEEDS.items():
            say("", name, need.why)
        return 0
    unknown = [name for name in arguments if name not in NEEDS]
    if unknown or not arguments:
        print(f"prepare: name what is needed, of: {', '.join(NEEDS)}; unknown: {unknown}", file=sys.stderr)
        return 2
    return 1 if prepare(arguments) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
