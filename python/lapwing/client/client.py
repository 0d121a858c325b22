"""One connection to a broker: connect, publish, subscribe, receive, disconnect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from lapwing import _core
from lapwing._core import CoreError
from lapwing.client.failures import core_failures
from lapwing.client.message import Message
from lapwing.client.version import version_of
from lapwing.client.will import Will
from lapwing.client_url import check_tls_files, without_user
from lapwing.errors import ConfigError, LapwingError

_POLL_S = 0.25
"""Longest wait inside Rust at a time: Ctrl-C is heard in between."""


class Client:
    """A client of an MQTT broker; one connection, used by one thread at a time.

    Args:
        url: The broker, as it prints it: ``tcp://HOST:PORT``, ``tls://``, ``ws://HOST:PORT/PATH``, ``wss://`` or ``sn://``.
        client_id: Empty: the broker chooses one; over ``sn://`` one is made up.
        version: 5 (MQTT 5.0) or 4 (3.1.1); ``None``: 5, and 4 over ``sn://``, which carries no more.
        clean_start: Start with an empty session; ``False``: go on with the old one, if the broker has it. What was
            sent in it and not acknowledged is forgotten here: whoever sent it sends it again, as a new message.
        session_expiry_s: How long the session outlives the connection, in seconds (5.0).
        keep_alive_s: Ping after so much silence, in seconds; 0: never. Pings go out while a method waits
            only: a caller that is silent for longer than one and a half times this is disconnected.
        receive_maximum: Incoming QoS 1 and 2 messages not yet taken by the caller, at most (5.0).
        username: User name, if any.
        password: Password, if any.
        ca: File with the authorities to trust over TLS, in PEM; none: those of this machine. The broker's name is
            checked against its certificate, always. This and the next two go with ``tls://`` and ``wss://`` only.
        certificate: File with this client's own certificate and its chain, in PEM.
        key: File with its key; none: it is in the certificate's.
        will: What the broker publishes if this client goes without a word.
        timeout_s: For every call that is not given its own, in seconds.

    Raises (every method):
        ConnectError: nobody answers there, TLS or WebSocket did not come about, or the broker refused the connection.
        TimedOutError: the broker did not answer in time.
        ConfigError: an argument cannot be (a bad URL, a topic with a wildcard).
        RejectedError: the broker refused messages (``flush``).
        LapwingError: the connection broke, or the broker refused a subscription.
    """

    def __init__(
        self,
        url: str,
        *,
        client_id: str = "",
        version: int | None = None,
        clean_start: bool = True,
        session_expiry_s: int = 0,
        keep_alive_s: int = 60,
        receive_maximum: int = 1024,
        username: str | None = None,
        password: str | bytes | None = None,
        ca: str | Path | None = None,
        certificate: str | Path | None = None,
        key: str | Path | None = None,
        will: Will | None = None,
        timeout_s: float = 10.0,
    ) -> None:
        self.url = url
        self._where = without_user(url)
        self.timeout_s = timeout_s
        self._client_id = client_id
        self._version = version_of(url, version)
        self._clean_start = clean_start
        self._session_expiry_s = session_expiry_s
        self._keep_alive_s = keep_alive_s
        self._receive_maximum = receive_maximum
        self._username = username
        self._password = password.encode() if isinstance(password, str) else password
        self._files = {"ca": ca, "certificate": certificate, "key": key}
        check_tls_files(url, self._files)
        self._will = will
        self._core: _core.Client | None = None
        if session_expiry_s and version is None and self._version < 5:
            remedy = "leave it out: clean_start=False keeps the session as the broker keeps those of MQTT 3.1.1"
            raise ConfigError("MQTT-SN has no session_expiry_s", where=self._where, remedy=remedy)
        _check_numbers(keep_alive_s=keep_alive_s, receive_maximum=receive_maximum)

    def connect(self) -> Self:
        """Connects and waits for the broker's answer; a client that is connected stays so."""
        if self._core is None:
            with core_failures(self._where):
                self._core = _core.Client(
                    self.url,
                    self._client_id,
                    self._version,
                    clean_start=self._clean_start,
                    session_expiry_s=self._session_expiry_s,
                    keep_alive_s=self._keep_alive_s,
                    receive_maximum=self._receive_maximum,
                    username=self._username,
                    password=self._password,
                    will=self._will,
                    **self._files,
                    timeout_s=self.timeout_s,
                )
        return self

    def disconnect(self, *, with_will: bool = False, session_expiry_s: int | None = None) -> None:
        """Says goodbye and closes; does nothing when not connected.

        Args:
            with_will: The will goes out (5.0).
            session_expiry_s: How long the session stays, in place of what `connect` asked for (5.0). A session that was
                opened without any time cannot be given some: that is a ConfigError, and the connection stays.
        """
        if self._core is None:
            return
        with core_failures(self._where):
            try:
                self._core.disconnect(with_will=with_will, session_expiry_s=session_expiry_s, timeout_s=self.timeout_s)
            except CoreError as failure:
                if failure.code != "invalid":
                    self._core = None
                raise
        self._core = None

    def abort(self) -> None:
        """Closes without a word, as a crash would: the broker sends the will."""
        core, self._core = self._core, None
        if core is not None:
            core.abort()

    @property
    def is_connected(self) -> bool:
        """Whether `connect` has succeeded, and neither `disconnect` nor `abort` came behind it."""
        return self._core is not None

    @property
    def client_id(self) -> str:
        """The client id in use; the broker's choice if none was given."""
        return self._client_id or self._connected().assigned_client_id() or ""

    @property
    def session_present(self) -> bool:
        """Whether the broker still had this client's session; MQTT-SN does not say: whether it was asked for."""
        return self._connected().session_present()

    def publish(
        self,
        topic: str,
        payload: bytes | str,
        *,
        qos: int = 0,
        retain: bool = False,
        user_properties: Sequence[tuple[str, str]] = (),
        content_type: str | None = None,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
        message_expiry_s: int | None = None,
        packet_id: int | None = None,
        hold: bool = False,
    ) -> int:
        """Sends a message; waits only while too many are unanswered or unsent. ``flush`` waits for all answers.

        Text becomes UTF-8. Properties are MQTT 5.0's: an error with version 4, and with U+0000 in one. What the socket
        does not take at once leaves with the next call.

        Args:
            topic: Where to; no wildcards.
            payload: What.
            qos: 0 to 2.
            retain: The broker keeps it for later subscribers.
            user_properties: Pairs in order; names may repeat.
            content_type: What the payload is.
            response_topic: Where to answer.
            correlation_data: What to answer with.
            message_expiry_s: After so many seconds the broker gives it to nobody.
            packet_id: 1 to 65535, at QoS 1 and 2; by default one that is free is chosen. One whose last message has not
                been answered yet is a ConfigError.
            hold: Leave it for the next call that is not held (``flush``, or a publish), or until 64 KiB have
                gathered: many small messages share one write, for throughput.

        Returns:
            A number by which a `RejectedError` names it.
        """
        data = payload.encode() if isinstance(payload, str) else payload
        with core_failures(f"publish to {topic!r}"):
            return self._connected().publish(
                topic,
                data,
                qos,
                retain,
                user_properties=list(user_properties),
                content_type=content_type,
                response_topic=response_topic,
                correlation_data=correlation_data,
                message_expiry_s=message_expiry_s,
                packet_id=packet_id,
                hold=hold,
                timeout_s=self.timeout_s,
            )

    def flush(self, timeout_s: float | None = None) -> None:
        """Waits until everything is written and, at QoS 1 and 2, answered for good."""
        with core_failures(self._where):
            self._connected().flush(self.timeout_s if timeout_s is None else timeout_s)

    def subscribe(
        self,
        filters: str | Sequence[str],
        *,
        qos: int = 0,
        no_local: bool = False,
        retain_as_published: bool = False,
        retain_handling: int = 0,
        subscription_id: int | None = None,
    ) -> list[int]:
        """Subscribes and waits for the answer; gives the granted QoS of each filter.

        Args:
            filters: One filter, or several in one SUBSCRIBE.
            qos: The most to be delivered with.
            no_local: Not what this client publishes itself (5.0).
            retain_as_published: Keep the retain flag of live messages (5.0).
            retain_handling: Retained messages come at once (0), only if the subscription is new (1), never (2) (5.0).
            subscription_id: 1 to 268435455; messages name it in ``subscription_ids`` (5.0).
        """
        asked = [filters] if isinstance(filters, str) else list(filters)
        with core_failures(f"subscribe to {', '.join(asked)}"):
            return self._connected().subscribe(
                asked,
                qos,
                no_local=no_local,
                retain_as_published=retain_as_published,
                retain_handling=retain_handling,
                subscription_id=subscription_id,
                timeout_s=self.timeout_s,
            )

    def unsubscribe(self, filters: str | Sequence[str]) -> None:
        """Gives filters up and waits for the answer."""
        given = [filters] if isinstance(filters, str) else list(filters)
        with core_failures(f"unsubscribe from {', '.join(given)}"):
            self._connected().unsubscribe(given, timeout_s=self.timeout_s)

    def receive(self, timeout_s: float) -> Message | None:
        """Takes the next message (and acknowledges it); ``None`` when none comes in time."""
        left_s = timeout_s
        while True:
            with core_failures(self._where):
                row = self._connected().receive(min(left_s, _POLL_S))
            if row is not None:
                return Message(*row)
            left_s -= _POLL_S
            if left_s <= 0:
                return None

    def messages(self, timeout_s: float | None = None) -> Iterator[Message]:
        """Messages as they come; ends when none has come for ``timeout_s`` (``None``: never ends)."""
        patience_s = float("inf") if timeout_s is None else timeout_s
        while (message := self.receive(patience_s)) is not None:
            yield message

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.disconnect()
            return
        try:
            self.disconnect()
        except LapwingError:
            # The error on its way out says more than the goodbye that failed because of it.
            self.abort()

    def _connected(self) -> _core.Client:
        if self._core is None:
            raise LapwingError("not connected", where=self._where, remedy="call connect(), or use `with`")
        return self._core


def _check_numbers(**numbers: int) -> None:
    for name, number in numbers.items():
        if not 0 <= number <= 65_535:
            raise ConfigError(f"{name} = {number}", remedy="give 0 to 65535")
