"""Hooks: Python of yours that may change or refuse what clients do, or watch it.

    class OnlyMine(Hooks):
        def on_publish(self, message: Message) -> Message | Refuse | None:
            if message.topic.startswith(f"devices/{message.client.client_id}/"):
                return None
            return Refuse(0x87, "not your topic")

    with lapwing.Broker(hooks=OnlyMine()) as broker: ...

- Only methods that you override are called; the others cost nothing.
- All of them run on one thread of their own, one call after the other: no locks needed. While that thread runs your
  code, the data threads go on with everything that is not waiting for its answer.
- Tense is a contract: ``on_publish`` may change or refuse, ``on_published`` has happened.
- A hook that raises, answers late (``[hooks] timeout``) or finds too much waiting (``queue``) is replaced by
  ``[hooks] on_failure``, "refuse" or "pass", and counted. ``on_auth`` is never passed.
- Arguments are frozen; a changed copy is ``message.replace(topic="new")``.
- A hook must not wait for this broker: what it waits for may need the answer of the very hook.
"""

from lapwing.hooks.answers import Admit, Continue, Refuse, Success
from lapwing.hooks.base import Hooks
from lapwing.hooks.calls import (
    AuthStep,
    ClientInfo,
    Connect,
    Connected,
    Disconnected,
    Message,
    Subscribed,
    Subscription,
    Unsubscribed,
)

__all__ = [
    "Admit",
    "AuthStep",
    "ClientInfo",
    "Connect",
    "Connected",
    "Continue",
    "Disconnected",
    "Hooks",
    "Message",
    "Refuse",
    "Subscribed",
    "Subscription",
    "Success",
    "Unsubscribed",
]
