"""What the shell says, as text: a message, a client, help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lapwing.cli.common import table
from lapwing.cli.messages import payload_fields, property_list
from lapwing.client import Message
from lapwing.shell.link import Link
from lapwing.shell.verb import Verb
from lapwing.text import one_line, payload_text


def message_line(client_id: str, message: Message) -> str:
    """``CLIENT TOPIC PAYLOAD``, on one line."""
    return f"{one_line(client_id)} {one_line(message.topic)} {payload_text(message.payload)}"


def message_notes(message: Message) -> str:
    """What else there is to say about a message: ``qos 1, retained, floor=3``; empty when nothing."""
    notes = [f"qos {message.qos}"] if message.qos else []
    notes += ["retained"] if message.retain else []
    notes += ["dup"] if message.dup else []
    notes += [f"{name}={value}" for name, value in message.user_properties]
    notes += [f"{name}={value}" for name, value in _properties(message).items()]
    return one_line(", ".join(notes))


def message_row(client_id: str, message: Message) -> dict[str, Any]:
    """A message as a JSON object."""
    row: dict[str, Any] = {"client": client_id, "topic": message.topic, "qos": message.qos, "retain": message.retain}
    row.update(payload_fields(message.payload))
    if message.user_properties:
        row["user_properties"] = property_list(message.user_properties)
    return {**row, **_properties(message)}


def _properties(message: Message) -> dict[str, Any]:
    """The properties it has, but for the user's."""
    data = message.correlation_data
    properties: dict[str, Any] = {
        "content_type": message.content_type,
        "response_topic": message.response_topic,
        "correlation_data": None if data is None else payload_text(data),
        "message_expiry_s": message.message_expiry_s,
    }
    if message.subscription_ids:
        properties["subscription_ids"] = message.subscription_ids
    return {name: value for name, value in properties.items() if value is not None}


def client_table(links: Iterable[Link], current: Link | None) -> str:
    """The clients of a shell, ``*`` at the current one."""
    rows = [
        (
            "*" if link is current else "",
            one_line(link.client_id),
            one_line(link.url),
            "5.0" if link.version == 5 else "3.1.1",
            "lost" if link.lost else "connected",
            one_line(" ".join(sorted(link.subscriptions))),
        )
        for link in links
    ]
    return table(rows, ("", "client", "broker", "mqtt", "state", "subscriptions"))


def verb_list(verbs: Iterable[Verb]) -> str:
    """One line per verb."""
    rows = [(verb.usage(), verb.summary) for verb in verbs]
    width = max(len(usage) for usage, _ in rows)
    return "\n".join(
        [*(f"  {usage:{width}}  {summary}" for usage, summary in rows), "", "help VERB shows its options and examples."]
    )


def verb_help(verb: Verb) -> str:
    """Everything about one verb."""
    lines = [verb.usage(), f"  {verb.summary}"]
    if verb.options:
        width = max(len(str(option)) for option in verb.options)
        lines += ["", "Options:", *(f"  {option!s:{width}}  {option.help}" for option in verb.options)]
    return "\n".join([*lines, "", "Examples:", *(f"  {example}" for example in verb.examples)])
