"""A line becomes a command, or an error that names the word and the remedy. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from lapwing.errors import ConfigError
from lapwing.shell.given import Given
from lapwing.shell.verb import Command, Verb
from lapwing.shell.verbs import VERBS, find_verb
from lapwing.shell.words import split


def parse(line: str) -> Command | None:
    """The command that ``line`` says; ``None`` for an empty line or a comment.

    Raises:
        ConfigError: it says none.
    """
    words = split(line)
    if not words:
        return None
    verb = named_verb(words[0])
    given = _sort(verb, words[1:])
    _check_count(verb, given.arguments)
    return verb.build(given)


def named_verb(name: str) -> Verb:
    """The verb of that name.

    Raises:
        ConfigError: there is none; the nearest is suggested.
    """
    verb = find_verb(name)
    if verb is None:
        remedy = suggestion(name, (verb.name for verb in VERBS), "help lists the verbs")
        raise ConfigError(f"no verb {name!r}", remedy=remedy)
    return verb


def suggestion(word: str, known: Iterable[str], otherwise: str) -> str:
    """``did you mean pub?``, or ``otherwise`` when nothing known is near."""
    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}?" if near else otherwise


def _sort(verb: Verb, words: list[str]) -> Given:
    """Tells options from arguments. After ``--`` every word is an argument."""
    arguments: list[str] = []
    options: dict[str, list[str]] = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments.extend(rest)
        elif word.startswith("-") and word != "-":
            name, value = _option(verb, word, rest)
            if name in options and not _repeats(verb, name):
                raise ConfigError(f"{name} is given twice", remedy="give it once")
            options.setdefault(name, []).append(value)
        else:
            arguments.append(word)
    return Given(arguments, options)


def _option(verb: Verb, word: str, rest: Iterator[str]) -> tuple[str, str]:
    """Name and value of one option; the value may be behind ``=`` or be the next word."""
    name, equals, value = word.partition("=")
    option = verb.option(name)
    if option is None:
        known = (option.name for option in verb.options)
        remedy = suggestion(name, known, f"see help {verb.name}; -- goes before a word that begins with a dash")
        raise ConfigError(f"{verb.name} has no option {name!r}", remedy=remedy)
    if not option.value:
        if equals:
            raise ConfigError(f"{option.name} takes no value", remedy=f"write {option.name} alone")
        return option.name, ""
    if not equals:
        following = next(rest, None)
        if following is None:
            raise ConfigError(f"{option.name} needs a value", remedy=f"write {option.name} {option.value}")
        value = following
    return option.name, value


def _repeats(verb: Verb, name: str) -> bool:
    option = verb.option(name)
    return option is not None and option.repeats


def _check_count(verb: Verb, given: Sequence[str]) -> None:
    needed = [argument for argument in verb.arguments if argument.required]
    if len(given) < len(needed):
        missing = needed[len(given)]
        example = verb.examples[0]
        raise ConfigError(f"{verb.name} needs {missing}", remedy=f"write {verb.usage()}, as: {example}")
    if given and verb.argument(len(given) - 1) is None:
        extra = given[len(verb.arguments)]
        remedy = f"write {verb.usage()}; quote what has spaces"
        raise ConfigError(f"{verb.name} takes no more words: {extra!r}", remedy=remedy)
