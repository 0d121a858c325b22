"""The table of verbs, in the order of ``help``."""

from __future__ import annotations

from lapwing.shell.verb import Verb
from lapwing.shell.verbs.connect import CONNECT, DISCONNECT, Connect, Disconnect
from lapwing.shell.verbs.local import CLIENTS, HELP, QUIT, USE, WAIT, Help, ListClients, Quit, Use, Wait
from lapwing.shell.verbs.publish import PUB, Publish
from lapwing.shell.verbs.subscribe import SUB, UNSUB, Subscribe, Unsubscribe

__all__ = [
    "VERBS",
    "Connect",
    "Disconnect",
    "Help",
    "ListClients",
    "Publish",
    "Quit",
    "Subscribe",
    "Unsubscribe",
    "Use",
    "Wait",
    "find_verb",
]

VERBS = (CONNECT, DISCONNECT, SUB, UNSUB, PUB, USE, CLIENTS, WAIT, HELP, QUIT)


def find_verb(name: str) -> Verb | None:
    """The verb of that name or alias."""
    return next((verb for verb in VERBS if name == verb.name or name in verb.aliases), None)
