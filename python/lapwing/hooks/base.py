"""The base class of all hooks: every method there is, each without effect."""

from __future__ import annotations

from collections.abc import Sequence

from lapwing.hooks.answers import Admit, Continue, Refuse, Success
from lapwing.hooks.calls import (
    AuthStep,
    Connect,
    Connected,
    Disconnected,
    Message,
    Subscribed,
    Subscription,
    Unsubscribed,
)


class Hooks:
    """Override what you need; what you do not override is never called and costs nothing.

    The methods in the present tense decide: the packet waits for the answer, at most ``[hooks] timeout``. None means
    "no objection". Those in the past tense are told what has happened, in batches, in the order of each client; what
    they return is not looked at.
    """

    def on_connect(self, connect: Connect) -> Admit | Refuse | None:
        """A client wants to connect. The broker has checked its own users and certificates before.

        Returns:
            None: as if there were no hook. ``Admit``: let it in, perhaps under a name. ``Refuse``: no.
        """
        del connect
        return None

    def on_auth(self, step: AuthStep) -> Continue | Success | Refuse:
        """A client of MQTT 5.0 names an authentication method in its CONNECT, or takes the next step of it.

        Without this method such a client is refused (0x8C). A failure always refuses, whatever ``on_failure`` says.

        Returns:
            ``Continue``: the client has the next word. ``Success``: it is who it says. ``Refuse``: it is not.
        """
        del step
        return Refuse(0x8C)

    def on_subscribe(self, subscription: Subscription) -> Subscription | Refuse | None:
        """A client wants to subscribe; called once for each filter.

        Returns:
            None: as asked for. A copy with a lower ``qos`` or other options: those are granted. ``Refuse``: this filter
            is not granted; the others of the packet are judged for themselves.
        """
        del subscription
        return None

    def on_publish(self, message: Message) -> Message | Refuse | None:
        """A client publishes, or the broker publishes its will.

        Returns:
            None: as it is. A copy with another topic, payload, retain or properties: that is published. ``Refuse``: it
            is dropped and counted, and acknowledged with the reason in 5.0.
        """
        del message
        return None

    def on_connected(self, events: Sequence[Connected]) -> None:
        """Clients have connected."""
        del events

    def on_disconnected(self, events: Sequence[Disconnected]) -> None:
        """Connections have ended."""
        del events

    def on_subscribed(self, events: Sequence[Subscribed]) -> None:
        """Subscriptions were granted."""
        del events

    def on_unsubscribed(self, events: Sequence[Unsubscribed]) -> None:
        """Subscriptions were given up."""
        del events

    def on_published(self, messages: Sequence[Message]) -> None:
        """Messages were accepted and routed, as ``on_publish`` left them."""
        del messages
