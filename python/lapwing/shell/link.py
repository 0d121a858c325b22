"""One client and its thread: the thread takes messages as they come, and does what it is asked in between.

Only the thread touches the client, because a client is for one thread at a time. The client has nothing to wait
on for both a message and a question, so the thread looks at the two in turn: a question is heard at once, a
message at the latest ``_POLL_S`` later.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, Protocol, TypeVar

from lapwing.client import Client, Message
from lapwing.client.version import version_of
from lapwing.client_url import without_user
from lapwing.errors import LapwingError
from lapwing.shell.verbs import Connect

Answer = TypeVar("Answer")

_POLL_S = 0.02
_LOOK_S = 0.1
"""A script that asks without pause does not keep messages waiting for longer."""
_BATCH = 256
"""Messages taken in a row: a flood waits at the broker and in the sockets, not in the terminal."""
_GONE = frozenset({"disconnected", "lost", "protocol", "not_connected"})
"""Codes of the core's errors after which the connection is of no use."""


class Listener(Protocol):
    """Hears what a link has to say, on the link's thread."""

    def on_message(self, link: Link, message: Message) -> None:
        """A message has come."""

    def on_lost(self, link: Link, error: LapwingError) -> None:
        """The connection is over, and nobody asked for it."""


class Link:
    """A client by its name in the shell.

    Attributes:
        settings: How it was connected.
        url: The broker, as it may be shown.
        version: 5 (MQTT 5.0) or 4 (3.1.1).
        subscriptions: Filters the broker has granted, with their QoS; changed by the link's thread only.
        lost: Why the connection is over, if it is.
    """

    def __init__(self, settings: Connect, url: str, timeout_s: float, listener: Listener) -> None:
        self.settings = settings
        self.url = without_user(url)
        self._url = url
        self.version = version_of(url, settings.version)
        self.subscriptions: dict[str, int] = {}
        self.lost: LapwingError | None = None
        self._timeout_s = timeout_s
        self._listener = listener
        self._client = self._new_client(settings.resume, settings.session_expiry_s, with_will=True)
        self._jobs: queue.SimpleQueue[tuple[Callable[[Client], Any], Future[Any]]] = queue.SimpleQueue()
        self._lock = Lock()  # over `_ended` and the putting of jobs: no job is put that nobody will do
        self._ended = False
        self._thread = Thread(target=self._run, name=f"client {settings.client_id}", daemon=True)

    @property
    def client_id(self) -> str:
        """Its id, which is its name in the shell."""
        return self.settings.client_id

    def open(self) -> bool:
        """Connects; whether the broker still had the session.

        Raises:
            LapwingError: it could not connect; the link is of no use then.
        """
        self._thread.start()
        try:
            return self.ask(lambda client: client.connect().session_present)
        except BaseException:
            self._end()
            raise

    def ask(self, work: Callable[[Client], Answer]) -> Answer:
        """Has the link's thread do ``work``, and waits for its answer.

        Raises:
            LapwingError: what ``work`` raised, or the connection is over.
        """
        future: Future[Answer] = Future()
        with self._lock:
            if self._ended:
                raise self.gone()
            self._jobs.put((work, future))
        return future.result()

    def gone(self) -> LapwingError:
        """The error of asking a link whose connection is over."""
        why = f": {self.lost.what}" if self.lost else ""
        what = f"{self.client_id!r} is not connected any more{why}"
        return LapwingError(what, where=self.url, remedy=f"connect {self.client_id}")

    def close(self, *, with_will: bool = False, session_expiry_s: int | None = None) -> None:
        """Takes what has come, within the timeout where it goes on coming, says goodbye and closes.

        Raises:
            LapwingError: the goodbye could not be said; it is closed all the same.
        """

        def goodbye(client: Client) -> None:
            until = time.monotonic() + self._timeout_s
            try:
                while self._receive(client) == _BATCH and time.monotonic() < until:
                    pass
                client.disconnect(with_will=with_will, session_expiry_s=session_expiry_s)
            finally:
                # On the link's thread, which may be faster than whoever waits: it must not receive any more.
                self._end()

        try:
            self.ask(goodbye)
        finally:
            self._end()

    def abort(self) -> None:
        """Closes without a word."""
        self._end()
        self._thread.join(self._timeout_s)

    def forget(self) -> None:
        """Ends the session at the broker: connects with an empty one that does not outlive the connection.

        Raises:
            LapwingError: the broker could not be told.
        """
        self._new_client(resume=False, session_expiry_s=0, with_will=False).connect().disconnect()

    def _new_client(self, resume: bool, session_expiry_s: int, *, with_will: bool) -> Client:
        settings = self.settings
        return Client(
            self._url,
            client_id=settings.client_id,
            version=self.version,
            clean_start=not resume,
            session_expiry_s=session_expiry_s,
            keep_alive_s=settings.keep_alive_s,
            receive_maximum=settings.receive_maximum,
            username=settings.username,
            password=settings.password,
            ca=settings.ca,
            certificate=settings.certificate,
            key=settings.key,
            will=settings.will if with_will else None,
            timeout_s=self._timeout_s,
        )

    def _run(self) -> None:
        try:
            if not self._do(*self._jobs.get()):
                return  # the first question is `open`'s: there is no connection
            while not self._ended:
                self._answer()
                if not self._ended:
                    self._receive(self._client)
        except LapwingError as error:
            if not self._ended:
                self.lost = error
                self._listener.on_lost(self, error)
        finally:
            self._end()
            self._client.abort()

    def _answer(self) -> None:
        """Does what was asked, until nothing is for a moment."""
        until = time.monotonic() + _LOOK_S
        while not self._ended and time.monotonic() < until:
            try:
                work, future = self._jobs.get(timeout=_POLL_S)
            except queue.Empty:
                return
            self._do(work, future)

    def _do(self, work: Callable[[Client], Any], future: Future[Any]) -> bool:
        """Answers one question; false when the answer is an error."""
        try:
            answer = work(self._client)
        except LapwingError as error:
            if getattr(error.__cause__, "code", "") in _GONE:
                # Whoever asked hears of it by this answer, and need not hear it again from the listener.
                self.lost = error
                self._end()
            future.set_exception(error)
        except BaseException as error:  # a bug: it goes to whoever asked, where it will be seen
            future.set_exception(error)
        else:
            future.set_result(answer)
            return True
        return False

    def _receive(self, client: Client) -> int:
        """Takes at most a batch of what has come; how many it was."""
        for count in range(_BATCH):
            message = client.receive(0.0)
            if message is None:
                return count
            self._listener.on_message(self, message)
        return _BATCH

    def _end(self) -> None:
        """No more questions; those not yet answered are told so."""
        with self._lock:
            self._ended = True
            while not self._jobs.empty():
                self._jobs.get()[1].set_exception(self.gone())
