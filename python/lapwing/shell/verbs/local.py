"""The verbs that say nothing to a broker: ``use``, ``clients``, ``wait``, ``help``, ``quit``."""

from __future__ import annotations

from dataclasses import dataclass

from lapwing.shell.given import Given, whole_number
from lapwing.shell.verb import Argument, Command, Noun, Option, Verb

_COUNT_MAX = 1_000_000_000
_WAIT_S = 10.0


@dataclass(frozen=True)
class Use(Command):
    """Make ``client_id`` the current client."""

    client_id: str


@dataclass(frozen=True)
class ListClients(Command):
    """List the clients of the shell."""


@dataclass(frozen=True)
class Wait(Command):
    """Wait until ``count`` messages have arrived since the last ``wait``, at most ``timeout_s``."""

    count: int = 1
    timeout_s: float = _WAIT_S


@dataclass(frozen=True)
class Help(Command):
    """Explain ``verb``, or list the verbs."""

    verb: str | None = None


@dataclass(frozen=True)
class Quit(Command):
    """Leave the shell."""


def _use(given: Given) -> Use:
    return Use(given.arguments[0])


def _clients(_given: Given) -> ListClients:
    return ListClients()


def _wait(given: Given) -> Wait:
    count = given.argument(0)
    timeout_s = given.seconds("--timeout")
    return Wait(
        1 if count is None else whole_number("N", count, 1, _COUNT_MAX), _WAIT_S if timeout_s is None else timeout_s
    )


def _help(given: Given) -> Help:
    return Help(given.argument(0))


def _quit(_given: Given) -> Quit:
    return Quit()


USE = Verb("use", "Make a client the current one.", _use, (Argument("ID", Noun.CLIENT),), examples=("use d1",))
CLIENTS = Verb("clients", "List the clients, * at the current one.", _clients, examples=("clients",))
WAIT = Verb(
    "wait",
    "Wait until N messages (default 1) have arrived since the last wait.",
    _wait,
    (Argument("N", required=False),),
    (Option("--timeout", f"Give up after; default: {_WAIT_S:g}.", "SECONDS", "-t"),),
    ("wait", "wait 10 --timeout 60"),
)
HELP = Verb(
    "help",
    "List the verbs, or explain one.",
    _help,
    (Argument("VERB", Noun.VERB, required=False),),
    examples=("help pub",),
)
QUIT = Verb("quit", "Disconnect all clients and leave; also Ctrl-D.", _quit, examples=("quit",), aliases=("exit",))
