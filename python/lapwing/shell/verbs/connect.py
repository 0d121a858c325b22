"""``connect`` and ``disconnect``: a client comes and goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from lapwing.client import Will
from lapwing.client.topics import check_topic
from lapwing.errors import ConfigError
from lapwing.shell.given import U32_MAX, Given
from lapwing.shell.verb import Argument, Command, Noun, Option, Verb

_U16_MAX = 65_535


@dataclass(frozen=True)
class Connect(Command):
    """Connect a client and make it the current one; ``None``: the client library's or the shell's own value.

    Attributes:
        client_id: Its id, and its name in the shell.
        url: The broker.
        version: 5 (MQTT 5.0) or 4 (3.1.1); ``None``: 5, and 4 over ``sn://``.
        resume: Go on with the session of before, if the broker has it.
        session_expiry_s: How long the session outlives the connection, in seconds (5.0).
        keep_alive_s: Ping after so much silence, in seconds; 0: never.
        receive_maximum: Incoming QoS 1 and 2 messages not yet shown, at most (5.0).
        username: User name.
        password: Password; not in ``repr``.
        will: Its last will.
        password_file: A file whose first line is the password.
        ca: File with the authorities to trust over TLS.
        certificate: File with the client's own certificate.
        key: File with its key.
    """

    client_id: str
    url: str | None = None
    version: int | None = None
    resume: bool = False
    session_expiry_s: int = 0
    keep_alive_s: int = 60
    receive_maximum: int = 1024
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    will: Will | None = None
    password_file: str | None = None
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Disconnect(Command):
    """Say goodbye, or go without a word.

    Attributes:
        client_id: Which client; ``None``: the current one.
        forget: End its session at the broker too.
        with_will: Let the will go out (5.0).
        abort: Close without a word, as a crash would.
        expiry_s: How long the session stays from now on, in seconds (5.0).
    """

    client_id: str | None = None
    forget: bool = False
    with_will: bool = False
    abort: bool = False
    expiry_s: int | None = None


def _connect(given: Given) -> Connect:
    client_id = given.arguments[0]
    if not client_id:
        raise ConfigError("ID is empty", remedy="a client in the shell has a name: connect d1")
    version = given.integer("--version", 4, 5)
    if version == 4:
        _only_in_5(given, "--session-expiry", "--receive-maximum", "--will-delay")
    if given.flag("--password") and given.flag("--password-file"):
        raise ConfigError("--password and --password-file", remedy="give one")
    keep_alive_s = given.integer("--keep-alive", 0, _U16_MAX)
    return Connect(
        client_id,
        url=given.text("--url"),
        version=version,
        resume=given.flag("--resume"),
        session_expiry_s=given.integer("--session-expiry", 0, U32_MAX) or 0,
        keep_alive_s=60 if keep_alive_s is None else keep_alive_s,
        receive_maximum=given.integer("--receive-maximum", 1, _U16_MAX) or 1024,
        username=given.text("--username"),
        password=given.text("--password"),
        will=_will(given),
        password_file=given.text("--password-file"),
        ca=given.text("--ca"),
        certificate=given.text("--cert"),
        key=given.text("--key"),
    )


def _only_in_5(given: Given, *names: str) -> None:
    for name in filter(given.flag, names):
        raise ConfigError(f"MQTT 3.1.1 has no {name}", remedy="leave it out, or connect with --version 5")


def _will(given: Given) -> Will | None:
    topic = given.text("--will-topic")
    if topic is None:
        for name in (name for name in given.options if name.startswith("--will-")):
            raise ConfigError(f"{name} without --will-topic", remedy="say where the will goes")
        return None
    return Will(
        check_topic(topic),
        (given.text("--will-message") or "").encode(),
        given.integer("--will-qos", 0, 2) or 0,
        given.flag("--will-retain"),
        given.integer("--will-delay", 0, U32_MAX) or 0,
    )


def _disconnect(given: Given) -> Disconnect:
    forget, with_will, abort = (given.flag(name) for name in ("--forget", "--with-will", "--abort"))
    if with_will and abort:
        raise ConfigError("--with-will and --abort", remedy="give one: the will goes out either way")
    expiry_s = given.integer("--expiry", 0, U32_MAX)
    if expiry_s is not None and abort:
        raise ConfigError("--expiry and --abort", remedy="give one: an abort says nothing to the broker")
    if expiry_s is not None and forget:
        raise ConfigError("--expiry and --forget", remedy="give one: a forgotten session has no time left")
    return Disconnect(given.argument(0), forget, with_will, abort, expiry_s)


CONNECT = Verb(
    "connect",
    "Connect a client; it becomes the current one.",
    _connect,
    (Argument("ID", Noun.CLIENT),),
    (
        Option("--url", "The broker; default: the shell's --url.", "URL", "-u"),
        Option("--version", "5 is MQTT 5.0 (default), 4 is 3.1.1 (default over sn).", "4|5", "-V", ("4", "5")),
        Option("--resume", "Go on with the session of before; default: start with an empty one."),
        Option("--session-expiry", "How long the session outlives the connection (5.0).", "SECONDS"),
        Option("--keep-alive", "Ping after so much silence; 0: never. Default: 60.", "SECONDS"),
        Option("--receive-maximum", "QoS 1 and 2 messages on their way to us at a time (5.0).", "N"),
        Option("--username", "User name; its password is asked for where none is given.", "NAME"),
        Option("--password", "Password; such a line is not kept in the history.", "TEXT"),
        Option("--password-file", "A file whose first line is the password.", "FILE"),
        Option("--ca", "Authorities to trust over TLS, in PEM; default: this machine's.", "FILE"),
        Option("--cert", "The client's own certificate, in PEM.", "FILE"),
        Option("--key", "Its key; default: in the certificate's file.", "FILE"),
        Option("--will-topic", "Where the last will goes.", "TOPIC", noun=Noun.TOPIC),
        Option("--will-message", "What it says; default: nothing.", "TEXT"),
        Option("--will-qos", "With which QoS.", "0|1|2", choices=("0", "1", "2")),
        Option("--will-retain", "The broker keeps it."),
        Option("--will-delay", "How long the broker waits first (5.0).", "SECONDS"),
    ),
    (
        "connect d1",
        "connect d2 --version 4 --url tcp://127.0.0.1:1883",
        "connect d3 --resume --session-expiry 3600",
        "connect d5 --url sn://127.0.0.1:1884",
        "connect d4 --url tls://broker.example --ca ca.pem --username d4",
    ),
)

DISCONNECT = Verb(
    "disconnect",
    "Disconnect a client: the current one, or ID.",
    _disconnect,
    (Argument("ID", Noun.CLIENT, required=False),),
    (
        Option("--forget", "End its session at the broker too."),
        Option("--with-will", "Let the will go out (5.0)."),
        Option("--abort", "Close without a word, as a crash would."),
        Option("--expiry", "How long the session stays from now on (5.0).", "SECONDS"),
    ),
    ("disconnect", "disconnect d3 --forget", "disconnect d3 --expiry 60"),
)
