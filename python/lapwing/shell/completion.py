"""What a word being typed can become: from the table of verbs, and from what the shell has seen. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lapwing.errors import ConfigError
from lapwing.shell.verb import Noun, Option, Verb
from lapwing.shell.verbs import VERBS, find_verb
from lapwing.shell.words import is_plain, quoted, split


@dataclass(frozen=True)
class Known:
    """What the shell knows at the moment.

    Attributes:
        clients: Names of clients.
        topics: Topics and filters seen.
        subscriptions: Filters the current client has subscribed to.
    """

    clients: Sequence[str] = ()
    topics: Sequence[str] = ()
    subscriptions: Sequence[str] = ()


@dataclass(frozen=True)
class Candidate:
    """A way to finish the word.

    Attributes:
        text: The whole word, quoted where it must be.
        replaces: How many characters before the cursor it stands for.
        note: What it is.
    """

    text: str
    replaces: int
    note: str = ""


def candidates(before_cursor: str, known: Known) -> list[Candidate]:
    """Ways to finish the last word of ``before_cursor``, in the order in which to show them."""
    word = _last_word(before_cursor)
    try:
        words = split(before_cursor[: len(before_cursor) - len(word)])
    except ConfigError:
        return []  # inside a quote
    if not is_plain(word):
        return []
    return [
        Candidate(quoted(text), len(word), note)
        for text, note in _choices(words, word, known)
        if text.startswith(word) and text != word
    ]


def _last_word(text: str) -> str:
    """What stands behind the last space; may be nothing."""
    space = max((at for at, character in enumerate(text) if character.isspace()), default=-1)
    return text[space + 1 :]


def _choices(words: list[str], word: str, known: Known) -> Iterable[tuple[str, str]]:
    if not words:
        return [(verb.name, verb.summary) for verb in VERBS]
    verb = find_verb(words[0])
    if verb is None:
        return []
    option = verb.option(words[-1])
    if option is not None and option.value:
        return _values(option, known)
    if word.startswith("-"):
        return [(option.name, option.help) for option in verb.options]
    argument = verb.argument(_position(verb, words[1:]))
    return _named(argument.noun, known) if argument else []


def _position(verb: Verb, words: Iterable[str]) -> int:
    """How many arguments stand among ``words``."""
    count = 0
    rest: Iterator[str] = iter(words)
    for word in rest:
        option = verb.option(word)
        if option is not None and option.value:
            next(rest, None)
        elif not word.startswith("-"):
            count += 1
    return count


def _values(option: Option, known: Known) -> Iterable[tuple[str, str]]:
    return [(choice, "") for choice in option.choices] or _named(option.noun, known)


def _named(noun: Noun, known: Known) -> Iterable[tuple[str, str]]:
    names: dict[Noun, Sequence[str]] = {
        Noun.TEXT: (),
        Noun.CLIENT: known.clients,
        Noun.TOPIC: known.topics,
        Noun.SUBSCRIPTION: known.subscriptions,
        Noun.VERB: [verb.name for verb in VERBS],
    }
    return [(name, "") for name in names[noun] if _can_be_taken(name)]


def _can_be_taken(name: str) -> bool:
    """Whether a name that somebody else may have chosen is seen as it is, and is a word of this line and no option."""
    return name.isprintable() and not name.startswith("-")
