"""Between Rust's rows and the methods of ``Hooks``: one call of ``answer`` per batch, on the hook thread only.

A row is ``(hook, arguments)``; an answer is None or a tuple whose first item says what it is. Whatever a hook raises
concerns that one call: it is logged here (``lapwing.hooks``, at most once a second and hook) and answered as failed.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from lapwing.hooks import calls
from lapwing.hooks.answers import Admit, Continue, Refuse, Success
from lapwing.hooks.base import Hooks
from lapwing.hooks.interests import interests
from lapwing.hooks.told import told

Row = tuple[str, tuple[Any, ...]]
Answer = tuple[Any, ...] | None

FAILED: Answer = ("failed",)
_LOG = logging.getLogger("lapwing.hooks")
_LOG_EVERY_S = 1.0
_NO_TEXT = re.compile("[\\0\ud800-\udfff]")
"""What no string of MQTT has (section 1.5.4): U+0000, and surrogates, which JSON may hold one by one."""


class Dispatcher:
    """What ``lapwing._core.Node`` is given for an object of hooks.

    Raises:
        ConfigError: the object cannot be used; see ``interests``.
    """

    client_info = calls.ClientInfo

    def __init__(self, hooks: Hooks) -> None:
        self.interests = interests(hooks)
        self._hooks = hooks
        self._answering: dict[str, Callable[[list[tuple[Any, ...]]], list[Answer]]] = {
            name: self._deciding(name) if name in _DECIDING else self._watching(name) for name in self.interests
        }
        self._logged_at: dict[str, float] = {}
        self._unlogged: dict[str, int] = {}

    def answer(self, rows: Iterable[Row]) -> list[Answer]:
        """One answer per row, in order."""
        answers: list[Answer] = []
        for hook, group in groupby(rows, key=itemgetter(0)):
            answers += self._answering[hook]([arguments for _, arguments in group])
        return answers

    def failed(self, hook: str, error: BaseException, secrets: tuple[bytes, ...] = ()) -> None:
        """Logs why a call failed, without the ``secrets`` that it was about."""
        now = time.monotonic()
        if now - self._logged_at.get(hook, -_LOG_EVERY_S) < _LOG_EVERY_S:
            self._unlogged[hook] = self._unlogged.get(hook, 0) + 1
            return
        self._logged_at[hook] = now
        more = self._unlogged.pop(hook, 0)
        times = f" (and {more} times more before)" if more else ""
        _LOG.error("%s failed%s\n%s", hook, times, told(error, secrets))

    def _deciding(self, hook: str) -> Callable[[list[tuple[Any, ...]]], list[Answer]]:
        make, tell = _DECIDING[hook]
        method = getattr(self._hooks, hook)

        def decide(rows: list[tuple[Any, ...]]) -> list[Answer]:
            answers: list[Answer] = []
            for row in rows:
                try:
                    call = make(*row)
                    answer = method(call)
                    answers.append(None if answer is None or answer is call else tell(hook, answer, call))
                except BaseException as error:
                    self.failed(hook, error, _secrets(row))
                    answers.append(FAILED)
            return answers

        return decide

    def _watching(self, hook: str) -> Callable[[list[tuple[Any, ...]]], list[Answer]]:
        make = _WATCHING[hook]
        method = getattr(self._hooks, hook)

        def watch(rows: list[tuple[Any, ...]]) -> list[Answer]:
            try:
                method([make(*row) for row in rows])
            except BaseException as error:
                self.failed(hook, error)
                return [FAILED] * len(rows)
            return [None] * len(rows)

        return watch


def _secrets(row: tuple[Any, ...]) -> tuple[bytes, ...]:
    """What a client gives to prove who it is: the password of ``on_connect``, the data of ``on_auth``."""
    return tuple(field for field in row if isinstance(field, bytes))


def _message(client: calls.ClientInfo, fields: tuple[Any, ...]) -> calls.Message:
    return calls.Message(client, *fields)


def _connect(client: calls.ClientInfo, *rest: Any) -> calls.Connect:
    username, password, clean_start, keep_alive_s, will, user_properties = rest
    message = None if will is None else _message(client, will)
    return calls.Connect(client, username, password, clean_start, keep_alive_s, message, user_properties)


def _tell_connect(hook: str, answer: object, _call: object) -> Answer:
    if isinstance(answer, Admit):
        return ("admit", answer.identity)
    return _refusal(hook, answer, "Admit")


def _tell_auth(hook: str, answer: object, _call: object) -> Answer:
    if isinstance(answer, Continue):
        return ("continue", answer.data)
    if isinstance(answer, Success):
        return ("success", answer.identity, answer.data)
    return _refusal(hook, answer, "Continue, Success")


def _tell_subscribe(hook: str, answer: object, call: calls.Subscription) -> Answer:
    if not isinstance(answer, calls.Subscription):
        return _refusal(hook, answer, "a Subscription")
    if answer.filter != call.filter:
        raise ValueError("a hook cannot change the filter: the client unsubscribes by the one it sent")
    if answer.qos > call.qos:
        raise ValueError(f"qos {answer.qos} is more than the client has asked for ({call.qos})")
    return ("grant", answer.qos, answer.no_local, answer.retain_as_published, answer.retain_handling)


def _tell_publish(hook: str, answer: object, call: calls.Message) -> Answer:
    if not isinstance(answer, calls.Message):
        return _refusal(hook, answer, "a Message")
    if answer.qos != call.qos:
        raise ValueError("a hook cannot change the QoS: the exchange of acknowledgements has begun")
    return (
        "change",
        (
            answer.topic,
            answer.payload,
            answer.qos,
            answer.retain,
            answer.user_properties,
            answer.content_type,
            answer.response_topic,
            answer.correlation_data,
            answer.message_expiry_s,
            answer.payload_is_utf8,
        ),
    )


def _refusal(hook: str, answer: object, others: str) -> Answer:
    if isinstance(answer, Refuse):
        return ("refuse", answer.reason_code, _words(answer.reason_string))
    raise TypeError(f"{hook} returned {type(answer).__name__}; return None, {others} or a Refuse")


def _words(said: object) -> str | None:
    """Words as a packet can have them: a hook quotes what a client has sent, and a refusal that failed for that would
    let the client through where ``on_failure`` is "pass"."""
    return None if said is None else _NO_TEXT.sub("\ufffd", str(said))


_DECIDING: dict[str, tuple[Callable[..., Any], Callable[[str, object, Any], Answer]]] = {
    "on_connect": (_connect, _tell_connect),
    "on_auth": (calls.AuthStep, _tell_auth),
    "on_subscribe": (calls.Subscription, _tell_subscribe),
    "on_publish": (_message, _tell_publish),
}
_WATCHING: dict[str, Callable[..., Any]] = {
    "on_connected": calls.Connected,
    "on_disconnected": calls.Disconnected,
    "on_subscribed": calls.Subscribed,
    "on_unsubscribed": calls.Unsubscribed,
    "on_published": _message,
}
