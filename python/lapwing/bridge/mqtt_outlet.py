"""What goes to the broker: publications, sent together, until each of them is answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lapwing.bridge.back_mapping import Publication
from lapwing.bridge.mqtt_side import connect_options
from lapwing.bridge.stopping import Stopping, Waiting
from lapwing.client import Publisher
from lapwing.client.counters import Counters
from lapwing.config.bridge import ToMqtt
from lapwing.config.bridge_sides import BridgeMqtt
from lapwing.errors import ConfigError, ConnectError, RejectedError, Rejection, TimedOutError

_TURN_S = 0.25
_PATIENCE_S = 2.0
_BREAKS_MAX = 4
"""Connections made anew for one batch; then it may be the batch that ends them."""
_TRIES_MAX = 10
"""Times that a message is sent again, with pauses; then it is the message."""
_PAUSE_S = 1.0
_NO_ROOM = 0x97
"""Quota exceeded: there may be room later, for a retained message, say."""


class _Refused(NamedTuple):
    """Why one is not taken, and whether it may be later."""

    words: str
    may_pass: bool


class _BreaksOffError(Exception):
    """The connection ends again and again over what is being sent."""


class MqttOutlet:
    """A publisher that waits as long as it must. For one thread.

    Args:
        mqtt: The broker's side of the configuration.
        rule: How to publish.
        lane: Names the connection.
        buffer_messages: Publications sent together, at most.
        stopping: Ends its waits.
        waiting: Told when it waits for the broker.
        alive: Called now and then while it waits.
    """

    def __init__(
        self,
        mqtt: BridgeMqtt,
        rule: ToMqtt,
        lane: str,
        *,
        buffer_messages: int,
        stopping: Stopping,
        waiting: Waiting,
        alive: Callable[[], None],
    ) -> None:
        self._url = mqtt.url
        self._rule = rule
        self._stopping = stopping
        self._waiting = waiting
        self._alive = alive
        self._options = connect_options(mqtt, lane)
        self._buffer_messages = buffer_messages
        self._publisher = self._made()
        self._connections = 0

    def connect(self) -> None:
        """Connects; errors are those of `Publisher`."""
        self._publisher.connect()

    @property
    def counters(self) -> Counters:
        """Of the connection."""
        return self._publisher.counters

    def send(self, publications: Sequence[Publication]) -> list[tuple[int, str]]:
        """Returns when the broker has answered for all of them; the places of those it does not take, and why.

        Those for which there may be room later are sent again, together, with pauses.
        """
        refused: dict[int, str] = {}
        left = dict.fromkeys(range(len(publications)), "")
        for turn in range(1 + _TRIES_MAX):
            if turn:
                self._waiting.begins(f"the broker at {self._url}: {next(iter(left.values()))}")
                self._stopping.pause(_PAUSE_S, self._alive)
            try:
                told = self._send({place: publications[place] for place in left})
            except _BreaksOffError:
                self._renew()
                left = self._send_each({place: publications[place] for place in left})
                break
            refused |= {place: why.words for place, why in told.items() if not why.may_pass}
            left = {place: why.words for place, why in told.items() if why.may_pass}
            if not left:
                break
        return sorted((refused | left).items())

    def close(self) -> None:
        """Says goodbye."""
        self._publisher.close(_PATIENCE_S)

    def abort(self) -> None:
        """Closes without a word."""
        self._publisher.abort()

    def _made(self) -> Publisher:
        return Publisher(self._url, buffer_messages=self._buffer_messages, **self._options)

    def _renew(self) -> None:
        """Forgets what the publisher would send again at every connection."""
        self._publisher.abort()
        while True:
            made = self._made()
            try:
                made.connect()
                self._publisher = made
                return
            except (ConnectError, TimedOutError) as failure:
                self._waiting.begins(f"the broker at {self._url}: {failure.what}")
            self._stopping.pause(_PAUSE_S, self._alive)

    def _send_each(self, publications: Mapping[int, Publication]) -> dict[int, str]:
        """It is somebody among them, and only one by one it shows who."""
        answers = {place: self._send_alone(each) for place, each in publications.items()}
        return {place: words for place, words in answers.items() if words is not None}

    def _send_alone(self, publication: Publication) -> str | None:
        """Words when it is refused, or when the connection ends over it each time.

        Tried for long: a broker that has no room, or that starts again and again, refuses and ends connections, too.
        """
        problem: str | None = None
        for _ in range(_TRIES_MAX):
            try:
                refused = self._send({0: publication}).get(0)
                if refused is None:
                    return None
                problem = refused.words
                if not refused.may_pass:
                    return problem
                self._waiting.begins(f"the broker at {self._url}: {problem}")
            except _BreaksOffError:
                self._renew()
                problem = f"the broker ended the connection over it {_TRIES_MAX * _BREAKS_MAX} times"
                self._waiting.begins(f"the broker at {self._url} ends the connection over a message")
            self._stopping.pause(_PAUSE_S, self._alive)
        return problem

    def _send(self, publications: Mapping[int, Publication]) -> dict[int, _Refused]:
        """Returns when the broker has answered for all of them; what it does not take, by place."""
        refused: dict[int, _Refused] = {}
        places: dict[int, int] = {}
        self._connections = self._publisher.counters.connections
        for place, publication in publications.items():
            try:
                places[self._hand_over(publication)] = place
            except ConfigError as failure:
                refused[place] = _Refused(str(failure), may_pass=False)
        for rejection in self._answered():
            place = places[rejection.number]
            words = f"publish to {publications[place].topic!r} was refused: {rejection.words}"
            refused[place] = _Refused(words, may_pass=rejection.reason == _NO_ROOM)
        return refused

    def _hand_over(self, publication: Publication) -> int:
        while True:
            try:
                return self._publisher.publish(
                    publication.topic,
                    publication.payload,
                    qos=self._rule.qos,
                    retain=self._rule.retain,
                    user_properties=publication.user_properties,
                    content_type=publication.content_type,
                    response_topic=publication.response_topic,
                    correlation_data=publication.correlation_data,
                    timeout_s=_TURN_S,
                )
            except TimedOutError:
                self._hold("no room for more")

    def _answered(self) -> tuple[Rejection, ...]:
        while True:
            try:
                self._publisher.flush(_TURN_S)
            except TimedOutError:
                self._hold("no answer")
            except RejectedError as failure:
                # All are answered; those that it does not name have been taken.
                return failure.rejections
            else:
                return ()

    def _hold(self, what: str) -> None:
        """The broker keeps us waiting."""
        self._stopping.check()
        counters = self._publisher.counters
        phase = counters.phase
        if phase == "over":
            # Raises what ended it.
            self._publisher.flush(0.0)
        if counters.connections - self._connections >= _BREAKS_MAX:
            raise _BreaksOffError
        self._alive()
        self._waiting.begins(f"the broker at {self._url}: {what}, connection {phase}")
