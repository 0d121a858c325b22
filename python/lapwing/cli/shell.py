"""``lapwing shell``: verbs on clients, typed at a prompt or read from a script."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from lapwing.cli.common import examples
from lapwing.cli.mqtt_options import (
    URL_DEFAULT,
    Ca,
    PasswordFile,
    Timeout,
    Url,
    Username,
    identity_of,
)
from lapwing.cli.tls_options import Certificate, Key

app = typer.Typer()


@app.command(
    epilog=examples(
        "lapwing shell",
        "lapwing shell --url tcp://127.0.0.1:1883",
        "lapwing shell --url tls://broker.example --username d1",
        "printf 'connect d1\\npub lamps/kitchen on --retain\\n' | lapwing shell",
        "cat checks.txt | lapwing shell --keep-going --json | tee messages.json",
    )
)
def shell(
    url: Url = URL_DEFAULT,
    timeout: Timeout = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Show messages as one JSON object per line.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", "-k", help="In a script: go on after an error.")] = False,
    username: Username = None,
    password_file: PasswordFile = None,
    ca: Ca = None,
    cert: Certificate = None,
    key: Key = None,
) -> int:
    """Connect clients, subscribe and publish, by hand: connect, sub, pub, help and more at a prompt.

    A script runs line by line: lapwing shell < FILE. The first error ends it, with the number of its line and its
    exit code; with --keep-going the rest is run, and the first error's code comes at the end. The user name and the
    files are those of each connect to --url that names no others.
    """
    who = identity_of(url, username, password_file, ca, cert, key)
    if sys.stdin.isatty() and sys.stdout.isatty():
        from lapwing.shell.terminal import run_terminal

        return run_terminal(url, timeout, who, as_json=json)
    from lapwing.shell.script import run_script

    return run_script(sys.stdin.buffer, url, timeout, who, as_json=json, keep_going=keep_going)
