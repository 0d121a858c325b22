"""``sub`` and ``unsub``."""

from __future__ import annotations

from dataclasses import dataclass

from lapwing.client.topics import check_filter
from lapwing.shell.given import Given
from lapwing.shell.verb import Argument, Command, Noun, Option, Verb

AS_CLIENT = Option("--id", "Which client does it; default: the current one.", "ID", noun=Noun.CLIENT)
QOS = Option("--qos", "0: at most once (default), 1: at least, 2: exactly.", "0|1|2", "-q", ("0", "1", "2"))

_SUBSCRIPTION_ID_MAX = 268_435_455


@dataclass(frozen=True)
class Subscribe(Command):
    """Subscribe.

    Attributes:
        filters: At least one.
        qos: The most to be delivered with.
        no_local: Not what this client publishes itself (5.0).
        retain_as_published: Keep the retain flag of live messages (5.0).
        retain_handling: When retained messages come: 0 at once, 1 if the subscription is new, 2 never (5.0).
        subscription_id: What messages name it by (5.0).
        client_id: Which client; ``None``: the current one.
    """

    filters: tuple[str, ...]
    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    retain_handling: int | None = None
    subscription_id: int | None = None
    client_id: str | None = None

    def only_in_5(self) -> list[str]:
        """The options given that MQTT 3.1.1 does not have."""
        given = {
            "--no-local": self.no_local,
            "--retain-as-published": self.retain_as_published,
            "--retain-handling": self.retain_handling is not None,
            "--subscription-id": self.subscription_id is not None,
        }
        return [name for name, is_given in given.items() if is_given]


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
        given.integer("--retain-handling", 0, 2),
        given.integer("--subscription-id", 1, _SUBSCRIPTION_ID_MAX),
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
        Option(
            "--retain-handling",
            "Retained messages come at once (0), if it is new (1), never (2) (5.0).",
            "0|1|2",
            choices=("0", "1", "2"),
        ),
        Option("--subscription-id", "Messages name it (5.0).", "N"),
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
