"""A consumer that blocks: messages in a loop, in batches, or through a handler with worker threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Literal, Self, Unpack

from lapwing.client.counters import Counters
from lapwing.client.failures import core_failures
from lapwing.client.intake import Delivery, Intake
from lapwing.client.loops import Batches, Busy, Messages
from lapwing.client.options import POLL_S, ConnectOptions
from lapwing.errors import TimedOutError


class Consumer:
    """Takes messages of a filter, alone or as a member of a group, and acknowledges each when its work is done.

    Args:
        url: The broker: ``tcp://HOST:PORT``, ``tls://``, ``ws://HOST:PORT/PATH``, ``wss://`` or ``sn://``.
        filters: One filter, or several.
        group: The name of the group to share the messages with; ``None``: all of them are for this consumer.
        qos: The most to be delivered with.
        workers: Threads of ``run``; the broker is told, so that it gives so many messages at a time.
        ack: ``"processed"``: acknowledged when the work is done. ``"received"``: when a worker takes it.
        on_error: A handler that raises ``"refuse"``\\ s the message (PUBACK or PUBREC 0x80 with the error in words:
            the broker gives it to nobody), or ``"stop"``\\ s ``run``: the message stays unanswered, and the next
            ``run`` or loop begins with it.
        high: Waiting messages at which nothing more is read and the broker is told, until ``low``.
        low: By default half of ``high``.
        high_bytes: The same in bytes; its low mark is half of it.
        batch: Messages taken at once by ``batches``; the broker is told.
        probe_ms: The broker may ask how this consumer is, every so many milliseconds (50 to 60000).
        report: Tell the broker about queue and work; any other broker ignores it.
        report_every: Every so many acknowledgements carry a report, at most one in a millisecond; 0: none do.
        envelope: Ask the broker who published each message: five user properties before its own, if a rule grants it.
        connect: How to connect: see `ConnectOptions`.

    Raises (when it connects, and later from the call that waits for messages):
        ConnectError: nobody answers there, or the broker refused the connection.
        TimedOutError: the broker did not answer in time.
        ConfigError: an argument cannot be.
        LapwingError: the broker refused the subscription, or ended the connection for good (session taken over).

    A connection that breaks is made again; what was not acknowledged comes again, here or at another member. Several
    threads may use one consumer.
    """

    def __init__(
        self,
        url: str,
        filters: str | Sequence[str],
        *,
        group: str | None = None,
        qos: int = 1,
        workers: int = 1,
        ack: Literal["processed", "received"] = "processed",
        on_error: Literal["refuse", "stop"] = "refuse",
        high: int = 1000,
        low: int | None = None,
        high_bytes: int = 64 << 20,
        batch: int | None = None,
        probe_ms: int | None = None,
        report: bool = True,
        report_every: int = 1,
        envelope: bool = False,
        **connect: Unpack[ConnectOptions],
    ) -> None:
        self._intake = Intake(
            url,
            filters,
            group=group,
            qos=qos,
            workers=workers,
            ack=ack,
            on_error=on_error,
            high=high,
            low=low,
            high_bytes=high_bytes,
            batch=batch,
            probe_ms=probe_ms,
            report=report,
            report_every=report_every,
            envelope=envelope,
            connect=connect,
        )
        self.client_id = self._intake.plan.client_id
        self._busy = Busy()
        self._opening = threading.Lock()

    def connect(self) -> Self:
        """Connects and subscribes; a consumer that has connected stays as it is."""
        # Two links would have one client id, and each would end the other's connection.
        with self._opening:
            if not self._intake.is_open:
                self._intake.opened(self._intake.prepare().start_and_wait())
        return self

    @property
    def counters(self) -> Counters:
        """What was counted, and how things stand."""
        return self._intake.counters()

    def __iter__(self) -> Iterator[Delivery]:
        return self.messages()

    def alive(self) -> None:
        """Says that work goes on, in a handler that may take seconds: the broker would take this member for stalled.

        Call it now and then, from where the work is done: a member that hangs must not look alive.
        """
        self._intake.connected().report()

    def messages(self, timeout_s: float | None = None) -> Iterator[Delivery]:
        """Messages as they come. Each is acknowledged when the next one is asked for, the last by ``close``.

        Ends when the consumer was closed and what it had is done, or when none has come for ``timeout_s``.
        A loop that is left, by ``break`` or by an error, leaves its message unanswered, unless it was said to be
        `done` or refused: the next loop begins with it.
        """
        return Messages(self.connect()._intake, self._busy, timeout_s)

    def batches(
        self,
        max: int | None = None,  # noqa: A002 (the word for it)
        wait_ms: float = 50.0,
        timeout_s: float | None = None,
    ) -> Iterator[list[Delivery]]:
        """Messages by the batch, for work that is cheaper together. A batch is acknowledged when the next is asked for.

        Args:
            max: Messages in a batch, at most; by default the consumer's ``batch``, else 1000. ``high`` and
                ``receive_maximum`` limit it, too: give ``batch`` to the consumer, and both will do.
            wait_ms: How long a batch waits for more after its first message.
            timeout_s: Ends when none has come for so long; ``None``: not before ``close``.
        """
        size = self._intake.batch_of(max)
        return Batches(self.connect()._intake, self._busy, timeout_s, size, wait_ms / 1000)

    def run(self, handler: Callable[[Delivery], object]) -> None:
        """Calls ``handler`` for each message, on ``workers`` threads (with one: on this one), until ``close``.

        A message is acknowledged when its handler has returned.

        Raises:
            Exception: what the handler raised, with ``on_error="stop"``.
        """
        self.connect()
        halt = threading.Event()
        if self._intake.workers == 1:
            self._work(handler, halt)
        else:
            self._work_together(handler, halt)
        self._intake.say_goodbye(self._intake.plan.timeout_s)

    def done(self, *messages: Delivery) -> None:
        """Acknowledges messages now: for who leaves a loop before the next one, or the next batch, is asked for."""
        self._busy.answered(messages)
        self._intake.connected().finish(messages)

    def refuse(self, message: Delivery, reason: str = "", code: int = 0x80) -> None:
        """Ends a message without its work being done: the broker gives it to nobody else.

        Args:
            message: One that was taken and not finished.
            reason: Words for the broker's operator, cut to 512 bytes.
            code: 0x80 unspecified, 0x83 implementation specific, 0x87 not authorized, 0x90 topic name, 0x97 quota,
                0x99 payload format.
        """
        self._intake.refuse([message], reason, code)
        self._busy.answered([message])

    def reply(self, message: Delivery, payload: bytes | str, *, qos: int = 1) -> None:
        """Answers a request, on the topic it names and with its correlation data.

        Raises:
            ConfigError: the message names no response topic.
            TimedOutError: no room for so long: the broker does not take replies.
        """
        topic, correlation_data = self._intake.reply_arguments(message)
        data = payload.encode() if isinstance(payload, str) else payload
        left_s = self._intake.plan.timeout_s
        with core_failures(f"reply to {topic!r}"):
            taken = self._intake.connected().publish(
                topic, data, qos, correlation_data=correlation_data, timeout_s=left_s
            )
        if not taken:
            raise TimedOutError(f"no room for a reply within {left_s:g} s", where=topic, remedy="look at the broker")

    def close(self, timeout_s: float | None = None) -> None:
        """Takes in no more, lets running loops and handlers finish what is here, acknowledges, says goodbye.

        Called by the thread of a loop it does not wait: the message in hand counts as done, what waits stays the
        broker's. Called in a handler it does not wait either: ``run`` ends after what is here. What is not finished
        within ``timeout_s`` (by default that of the consumer) stays the broker's. Does nothing when not connected.
        """
        if not self._intake.is_open:
            return
        patience_s = self._intake.plan.timeout_s if timeout_s is None else timeout_s
        self._intake.connected().drain()
        self._busy.end_own_loops(self._intake.connected(), finished=True)
        if self._busy.wait_for_others(patience_s):
            self._intake.say_goodbye(patience_s)

    def abort(self) -> None:
        """Closes without a word, as a crash would: what was not acknowledged is given out again."""
        self._intake.abort()

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        elif self._intake.is_open:
            self._busy.end_own_loops(self._intake.connected(), finished=False)
            self._intake.say_goodbye(self._intake.plan.timeout_s)

    def _work_together(self, handler: Callable[[Delivery], object], halt: threading.Event) -> None:
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self._work(handler, halt)
            except BaseException as failure:
                failures.append(failure)
                halt.set()

        threads = [threading.Thread(target=work, name=f"worker-{n}") for n in range(self._intake.workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(POLL_S)
        except BaseException:
            halt.set()
            raise
        if failures:
            raise failures[0]

    def _work(self, handler: Callable[[Delivery], object], halt: threading.Event) -> None:
        link = self._intake.connected()
        done: Delivery | None = None
        with self._busy, self._busy.worker(threading.current_thread()) as hand, core_failures(self._intake.plan.url):
            while not halt.is_set():
                message = self._busy.next_message(link, done, POLL_S)
                done = None
                if message is None:
                    if link.is_dry():
                        return
                    continue
                hand.in_hand = [message]
                try:
                    handler(message)
                    done = message
                except BaseException as error:
                    if self._intake.stops_on_error or not isinstance(error, Exception):
                        self._busy.not_done(link, hand)
                        raise
                    self._intake.failed([message], error)
            if done is not None:
                link.finish([done])
