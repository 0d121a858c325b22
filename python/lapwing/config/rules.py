"""One ``[[rules]]`` table: who may (or must not) do what."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lapwing.config.streams import parse_filter

Right = Literal["publish", "subscribe", "stream", "envelope", "observe", "admin"]
_PLACE = re.compile(r"%(.?)", re.DOTALL)
_STREAM = re.compile(r"[A-Za-z0-9._*-]{1,64}")
_RULES_MAX = 10_000


def parse_topic_pattern(text: str) -> str:
    """A topic filter with ``%c``, ``%u`` and ``%%`` in it.

    Raises:
        ValueError: the rule that is broken.
    """
    if any(match[1] not in ("c", "u", "%") for match in _PLACE.finditer(text)):
        raise ValueError("% stands before c (client id), u (user name) or another %")
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


class RuleConfig(BaseModel):
    """What those whom ``identity`` names may do, or must not.

    Once there is a rule, what no rule permits is refused. Without rules everybody may do everything.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    identity: Annotated[str, Field(min_length=1, max_length=256)]
    """A user name with * for any characters; "*": everybody with a name; "anonymous": those without; required."""

    may: Annotated[list[Right], Field(min_length=1)]
    """What the rule is about: "publish", "subscribe", "stream", "envelope", "observe", "admin"; required."""

    topics: list[Annotated[str, AfterValidator(parse_topic_pattern)]] = []
    """Topic filters, for "publish" and "subscribe": %c is the client id, %u the user name, %% a percent sign."""

    streams: list[Annotated[str, AfterValidator(parse_stream_pattern)]] = []
    """Names of streams with * for any characters, for "stream"."""

    effect: Literal["allow", "deny"] = "allow"
    """"deny" wins over every "allow"."""

    @model_validator(mode="after")
    def _is_about_something(self) -> Self:
        wants_topics = not {"publish", "subscribe"}.isdisjoint(self.may)
        if wants_topics != bool(self.topics):
            raise ValueError('give topics with "publish" or "subscribe", and only then')
        if ("stream" in self.may) != bool(self.streams):
            raise ValueError('give streams with "stream", and only then')
        if self.identity == "anonymous" and any("u" in _PLACE.findall(topic) for topic in self.topics):
            raise ValueError("the anonymous have no user name: use %c, or name an identity")
        return self


Rules = Annotated[list[RuleConfig], Field(max_length=_RULES_MAX)]
