"""A verb: what it is called, what it takes, what it becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from lapwing.shell.given import Given


class Command:
    """A parsed line. Each verb has a frozen dataclass below this one; carrying it out is ``Shell.run``'s."""


class Noun(Enum):
    """What a word stands for: decides which completions it gets."""

    TEXT = auto()
    CLIENT = auto()
    TOPIC = auto()
    SUBSCRIPTION = auto()
    VERB = auto()


@dataclass(frozen=True)
class Argument:
    """A word by its position.

    Attributes:
        name: As help shows it: ``TOPIC``.
        noun: What it stands for.
        required: A line without it is an error.
        many: Takes all words that are left; only the last argument may.
    """

    name: str
    noun: Noun = Noun.TEXT
    required: bool = True
    many: bool = False

    def __str__(self) -> str:
        name = f"{self.name}..." if self.many else self.name
        return name if self.required else f"[{name}]"


@dataclass(frozen=True)
class Option:
    """A word by its name.

    Attributes:
        name: With its dashes: ``--qos``.
        help: One line.
        value: What help calls the value; empty: it has none.
        short: ``-q``, if there is one.
        choices: What the value may be, for completion.
        noun: What the value stands for, for completion.
        repeats: It may be given several times.
    """

    name: str
    help: str
    value: str = ""
    short: str = ""
    choices: tuple[str, ...] = ()
    noun: Noun = Noun.TEXT
    repeats: bool = False

    def __str__(self) -> str:
        names = f"{self.name}, {self.short}" if self.short else self.name
        return f"{names} {self.value}".rstrip()


@dataclass(frozen=True)
class Verb:
    """An entry of the table.

    Attributes:
        name: The first word of a line.
        summary: One line of help.
        build: Makes the command from what was given; raises ``ConfigError`` for a value that cannot be.
        arguments: Words by position.
        options: Words by name.
        examples: Lines as they are typed.
        aliases: Other first words.
    """

    name: str
    summary: str
    build: Callable[[Given], Command]
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    examples: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    def usage(self) -> str:
        """``pub TOPIC MESSAGE [options]``."""
        words = [self.name, *map(str, self.arguments), *(["[options]"] if self.options else [])]
        return " ".join(words)

    def option(self, name: str) -> Option | None:
        """The option of that name, long or short."""
        return next((option for option in self.options if name in (option.name, option.short)), None)

    def argument(self, position: int) -> Argument | None:
        """The argument at that position; the last one when it takes many."""
        if position < len(self.arguments):
            return self.arguments[position]
        last = self.arguments[-1] if self.arguments else None
        return last if last and last.many else None
