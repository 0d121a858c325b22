"""The shell: carries commands out on its clients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lapwing.client import Client, Message
from lapwing.client.identity import Identity
from lapwing.errors import ConfigError, LapwingError, TimedOutError
from lapwing.shell.arrivals import Arrivals
from lapwing.shell.identified import identified
from lapwing.shell.lines import client_table, verb_help, verb_list
from lapwing.shell.link import Link
from lapwing.shell.links import Links
from lapwing.shell.parse import named_verb
from lapwing.shell.screen import Screen
from lapwing.shell.topics import SeenTopics
from lapwing.shell.verb import Command
from lapwing.shell.verbs import (
    VERBS,
    Connect,
    Disconnect,
    Help,
    ListClients,
    Publish,
    Subscribe,
    Unsubscribe,
    Use,
    Wait,
)


class Shell:
    """Several clients, and what can be done with them; used by one thread.

    Args:
        url: The broker of a ``connect`` without ``--url``.
        timeout_s: For each answer of a broker, in seconds.
        who: User and files of a ``connect`` that names no others.
        screen: Where everything is shown.
        ask_password: Asks for a user's password; None: nobody is there to be asked.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float,
        who: Identity,
        screen: Screen,
        *,
        ask_password: Callable[[str], str] | None = None,
    ) -> None:
        self.links = Links()
        self.seen = SeenTopics()
        self.screen = screen
        self._url = url
        self._timeout_s = timeout_s
        self._who = who
        self._ask_password = ask_password
        self._arrivals = Arrivals()
        self.lost: list[LapwingError] = []
        """Connections that were over without anybody having asked, in the order in which it was said."""

    def run(self, command: Command) -> None:
        """Carries one command out.

        Raises:
            LapwingError: it could not be.
        """
        match command:
            case Connect():
                self._connect(command)
            case Disconnect():
                self._disconnect(command)
            case Subscribe():
                self._subscribe(command)
            case Unsubscribe():
                self._unsubscribe(command)
            case Publish():
                self._publish(command)
            case Wait():
                self._wait(command)
            case Use():
                self.links.current = self.links.get(command.client_id)
            case ListClients():
                self.screen.result(client_table(self.links.all(), self.links.current))
            case Help():
                self.screen.result(verb_help(named_verb(command.verb)) if command.verb else verb_list(VERBS))
            case _:
                raise TypeError(f"a verb that the shell does not know how to carry out: {command!r}")

    def close(self) -> list[LapwingError]:
        """Disconnects every client; gives what went wrong."""
        errors = []
        for link in self.links.all():
            if link.lost is None:
                try:
                    link.close()
                except LapwingError as error:
                    errors.append(error)
            self.links.remove(link)
        return errors

    def on_message(self, link: Link, message: Message) -> None:
        """Shows a message; on the link's thread."""
        self.screen.message(link.client_id, message)
        self.seen.add(message.topic)
        self._arrivals.add()

    def on_lost(self, link: Link, error: LapwingError) -> None:
        """Says that a connection is over; on the link's thread."""
        what = f"{link.client_id!r} is not connected any more: {error.what}"
        self.lost.append(LapwingError(what, where=link.url, remedy=f"connect {link.client_id}"))
        self.screen.error(self.lost[-1])

    def _connect(self, command: Connect) -> None:
        name = command.client_id
        if self.links.connected(name):
            raise ConfigError(f"{name!r} is connected already", remedy=f"use {name}, or disconnect {name} first")
        url = command.url or self._url
        settings = identified(command, url, self._who, same_broker=url == self._url, ask_password=self._ask_password)
        link = Link(settings, url, self._timeout_s, self)
        resumed = link.open()
        self.links.add(link)
        self.screen.done(f"{name} connected to {link.url}{', session resumed' if resumed else ''}")

    def _disconnect(self, command: Disconnect) -> None:
        link = self.links.get(command.client_id)
        if command.with_will:
            _needs_5(link, "--with-will", remedy="use --abort")
        if command.expiry_s is not None:
            _needs_5(link, "--expiry")
        if command.expiry_s and not link.settings.session_expiry_s:
            what = f"{link.client_id!r} has a session that ends with its connection"
            raise ConfigError(what, remedy="connect it with --session-expiry: --expiry only changes that")
        self.links.remove(link)
        if command.abort:
            link.abort()
        elif link.lost is None:
            link.close(with_will=command.with_will, session_expiry_s=command.expiry_s)
        if command.forget:
            link.forget()
        self.screen.done(f"{link.client_id} disconnected{', its session ended' if command.forget else ''}")

    def _subscribe(self, command: Subscribe) -> None:
        link = self.links.get(command.client_id)
        for name in command.only_in_5():
            _needs_5(link, name)
        # One SUBSCRIBE each: of several in one, the client cannot say which the broker has granted.
        for topic_filter in command.filters:
            granted = link.ask(partial(_subscribe_one, link=link, command=command, topic_filter=topic_filter))
            self.screen.done(f"{link.client_id} subscribed to {topic_filter} (qos {granted})")

    def _unsubscribe(self, command: Unsubscribe) -> None:
        link = self.links.get(command.client_id)

        def give_up(client: Client) -> None:
            client.unsubscribe(command.filters)
            for topic_filter in command.filters:
                link.subscriptions.pop(topic_filter, None)

        link.ask(give_up)
        self.screen.done(f"{link.client_id} unsubscribed from {' '.join(command.filters)}")

    def _publish(self, command: Publish) -> None:
        link = self.links.get(command.client_id)
        if name := command.first_property():
            _needs_5(link, name)
        link.ask(lambda client: _publish_one(client, command))
        self.seen.add(command.topic)
        if command.qos:
            self.screen.done(f"{link.client_id} published to {command.topic} (qos {command.qos}, acknowledged)")

    def _wait(self, command: Wait) -> None:
        self.screen.done(f"waits for messages: {command.count}, at most {command.timeout_s:g} s; Ctrl-C ends it")
        taken = self._arrivals.take(command.count, command.timeout_s, self._nobody_is_connected)
        if taken == command.count:
            return
        came = f"{taken} of {command.count} messages"
        if self._nobody_is_connected():
            raise LapwingError(f"{came} came, and no client is connected", remedy="connect one, and subscribe")
        what = f"{came} within {command.timeout_s:g} s"
        raise TimedOutError(what, remedy="check the subscriptions (clients), or wait longer (--timeout)")

    def _nobody_is_connected(self) -> bool:
        return all(link.lost for link in self.links.all())


def _needs_5(link: Link, name: str, remedy: str = "") -> None:
    if link.version < 5:
        remedy = remedy or f"leave it out, or connect {link.client_id} with --version 5"
        raise ConfigError(f"{link.client_id!r} speaks MQTT 3.1.1, which has no {name}", remedy=remedy)


def _subscribe_one(client: Client, link: Link, command: Subscribe, topic_filter: str) -> int:
    granted = client.subscribe(
        topic_filter,
        qos=command.qos,
        no_local=command.no_local,
        retain_as_published=command.retain_as_published,
        retain_handling=command.retain_handling or 0,
        subscription_id=command.subscription_id,
    )[0]
    link.subscriptions[topic_filter] = granted
    return granted


def _publish_one(client: Client, command: Publish) -> None:
    data = command.correlation_data
    client.publish(
        command.topic,
        command.message,
        qos=command.qos,
        retain=command.retain,
        user_properties=command.properties,
        content_type=command.content_type,
        response_topic=command.response_topic,
        correlation_data=None if data is None else data.encode(),
        message_expiry_s=command.expiry_s,
        packet_id=command.packet_id,
    )
    client.flush()
