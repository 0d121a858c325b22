"""``sub`` and ``unsub``."""

from __future__ import annotations

from dataclasses import dataclass

from lapwing.shell.given import Given
from lapwing.shell.topics import check_filter
from lapwing.shell.verb import Argument, Command, Noun, Option, Verb

AS_CLIENT = Option("--id", "Which client does it; default: the current one.", "ID", noun=Noun.CLIENT)
QOS = Option("--qos", "0: at most once (default), 1: at least, 2: exactly.", "0|1|2", "-q", ("0", "1", "2"))


@dataclass(frozen=True)
class Subscribe(Command):
    """Subscribe.

    Attributes:
        filters: At least one.
        qos: The most to be delivered with.
        no_local: Not what this client publishes itself (5.0).
        retain_as_published: Keep the retain flag of live messages (5.0).
        client_id: Which client; ``None``: the current one.
    """

    filters: tuple[str, ...]
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    client_id: str | None = None


@dataclass(frozen=True)
class Unsubscribe(Command):
    """Give filters up.

    Attributes:
        filters: At least one.
        client_id: Which client; ``None``: the current one.
    """

    filters: tuple[str, ...]
    client_id: str | None = None


def _subscribe(given: Given) -> Subscribe:
    return Subscribe(
        tuple(map(check_filter, given.arguments)),
        given.integer("--qos", 0, 2) or 0,
        given.flag("--no-local"),
        given.flag("--retain-as-published"),
        given.text("--id"),
    )


def _unsubscribe(given: Given) -> Unsubscribe:
    return Unsubscribe(tuple(map(check_filter, given.arguments)), given.text("--id"))


SUB = Verb(
    "sub",
    "Subscribe; messages are shown as they arrive.",
    _subscribe,
    (Argument("TOPIC", Noun.TOPIC, many=True),),
    (
        QOS,
        Option("--no-local", "Not what this client publishes itself (5.0)."),
        Option("--retain-as-published", "Keep the retain flag of live messages (5.0)."),
        AS_CLIENT,
    ),
    ("sub lamps/#", "sub spectrum/+/readings --qos 1", "sub $share/workers/jobs/# --id d2"),
)

UNSUB = Verb(
    "unsub",
    "Give subscriptions up.",
    _unsubscribe,
    (Argument("TOPIC", Noun.SUBSCRIPTION, many=True),),
    (AS_CLIENT,),
    ("unsub lamps/#",),
)
