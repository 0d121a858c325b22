"""Is every example in a command's help a command line that this version takes, and has every command one?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import typer

from lapwing.cli.app import COMMANDS, app, load_command


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and subcommand, by the words that call it."""
    for name in COMMANDS:
        if find_spec(f"lapwing.cli.{name}") is not None:
            command = load_command(name)
            for below, subcommand in getattr(command, "commands", {"": command}).items():
                yield f"{name} {below}".strip(), subcommand


def lapwing_words(line: str) -> Iterator[list[str]]:
    """The arguments of each call of `lapwing` in a line of shell, other programs left out."""
    words: list[str] = []
    without_substitutions = re.sub(r"\$\([^)]*\)", "1", line)
    for word in [*shlex.split(without_substitutions, comments=True), "|"]:
        if word in ("|", "||", "&&", "&", ">"):
            if "lapwing" in words:
                yield words[words.index("lapwing") + 1 :]
            words = []
        else:
            words.append(word)


@pytest.mark.parametrize(("name", "command"), [pytest.param(*pair, id=pair[0]) for pair in commands()])
def test_examples(name: str, command: Any) -> None:
    head, _, text = (command.epilog or "").partition("\n\n")
    assert head == "Examples:"
    lines = text.split("\n\n")
    assert any(f"lapwing {name}" in line for line in lines)
    for line in lines:
        for words in lapwing_words(line):
            parse(words)


def parse(words: list[str]) -> None:
    """Raises a usage error unless `lapwing` takes these arguments; nothing is run."""
    command: Any = typer.main.get_command(app)
    context: Any = None
    rest, name = words, "lapwing"
    while True:
        context = command.make_context(name, list(rest), parent=context)
        if not hasattr(command, "resolve_command"):
            return
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
