"""One ``[[rules]]`` table: who may (or must not) do what."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lapwing.config.streams import parse_filter

Right = Literal["connect", "publish", "subscribe", "stream", "envelope", "bridge", "observe", "admin"]
_PLACE = re.compile(r"%(.?)", re.DOTALL)
_STREAM = re.compile(r"[A-Za-z0-9._*-]{1,64}")
_RULES_MAX = 10_000


def parse_topic_pattern(text: str) -> str:
    """A topic filter with ``%c``, ``%u`` and ``%%`` in it.

    Raises:
        ValueError: the rule that is broken.
    """
    _check_places(text)
    # What is filled in later is neither empty nor a wildcard nor a level more: a letter stands for it.
    parse_filter(_PLACE.sub(lambda match: "%" if match[1] == "%" else "x", text))
    return text


def parse_stream_pattern(text: str) -> str:
    """A stream's name with ``*`` for any characters.

    Raises:
        ValueError: characters that no stream's name has.
    """
    if not _STREAM.fullmatch(text):
        raise ValueError('must be the name of a stream, with * for any characters, as in "readings" or "*"')
    return text


def parse_group_pattern(text: str) -> str:
    """A share name with ``*`` for any characters, and ``%c``, ``%u`` and ``%%`` in it.

    Raises:
        ValueError: the rule that is broken.
    """
    _check_places(text)
    if not text or not {"/", "+", "#"}.isdisjoint(text):
        raise ValueError('must be the GROUP of $share/GROUP/FILTER, with * for any characters, as in "team-*"')
    return text


def parse_client_id_pattern(text: str) -> str:
    """A client id with ``*`` for any characters, and ``%u`` and ``%%`` in it.

    Raises:
        ValueError: the rule that is broken.
    """
    _check_places(text)
    if not text:
        raise ValueError('must be a client id, with * for any characters, as in "%u-*"')
    if "c" in _PLACE.findall(text):
        raise ValueError("%c is the client id itself: use %u, or * for any characters")
    return text


def _check_places(text: str) -> None:
    if any(match[1] not in ("c", "u", "%") for match in _PLACE.finditer(text)):
        raise ValueError("% stands before c (client id), u (user name) or another %")


class RuleConfig(BaseModel):
    """What those whom ``identity`` names may do, or must not.

    Once there is a rule, what no rule permits is refused. Without rules everybody may do everything.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    identity: Annotated[str, Field(min_length=1, max_length=256)]
    """A user name with * for any characters; "*": everybody with a name; "anonymous": those without; required."""

    may: Annotated[list[Right], Field(min_length=1)]
    """What the rule is about: "connect", "publish", "subscribe", "stream", "envelope", "bridge", "observe", "admin";
    required."""

    topics: list[Annotated[str, AfterValidator(parse_topic_pattern)]] = []
    """Topic filters, for "publish" and "subscribe": %c is the client id, %u the user name, %% a percent sign."""

    streams: list[Annotated[str, AfterValidator(parse_stream_pattern)]] = []
    """Names of streams with * for any characters, for "stream"."""

    groups: list[Annotated[str, AfterValidator(parse_group_pattern)]] | None = None
    """Share names for "subscribe", with *, %c, %u: the groups that may take these topics; [] none, absent: any."""

    client_ids: list[Annotated[str, AfterValidator(parse_client_id_pattern)]] = []
    """Client ids for "connect", with * and %u, %%: who is named may have these and no other, and nobody else these."""

    effect: Literal["allow", "deny"] = "allow"
    """"deny" wins over every "allow"."""

    @model_validator(mode="after")
    def _is_about_something(self) -> Self:
        wants_topics = not {"publish", "subscribe"}.isdisjoint(self.may)
        if wants_topics != bool(self.topics):
            raise ValueError('give topics with "publish" or "subscribe", and only then')
        if ("stream" in self.may) != bool(self.streams):
            raise ValueError('give streams with "stream", and only then')
        if ("connect" in self.may) != bool(self.client_ids):
            raise ValueError('give client_ids with "connect", and only then')
        self._check_groups()
        named = (*self.topics, *(self.groups or ()), *self.client_ids)
        if self.identity == "anonymous" and any("u" in _PLACE.findall(text) for text in named):
            raise ValueError("the anonymous have no user name: use %c, or name an identity")
        return self

    def _check_groups(self) -> None:
        if self.groups is None:
            return
        if "subscribe" not in self.may:
            raise ValueError('give groups with "subscribe", and only then')
        if self.effect == "deny" and "publish" in self.may:
            raise ValueError("a rule that denies groups knows no publishing: forbid that in a rule of its own")
        if self.effect == "deny" and not self.groups:
            raise ValueError("groups = [] in a deny forbids nothing: name groups, or leave the key out")


Rules = Annotated[list[RuleConfig], Field(max_length=_RULES_MAX)]
