"""One ``[groups."NAME"]`` table: how a consumer group chooses members, what it keeps, and what is too late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from lapwing._core import filter_matches
from lapwing.config.group_rules import GroupRule
from lapwing.config.several import refuse_all
from lapwing.config.strategies import check_number_of_parameters, check_parameters, parse_parameter_name, parse_strategy
from lapwing.config.streams import parse_filter
from lapwing.config.topics import parse_topic
from lapwing.config.units import Duration, Size
from lapwing.hooks.loading import parse_use

GROUP_TABLES_MAX = 1_000
_NAME_BYTES_MAX = 256


def parse_group_name(name: str) -> str:
    """A share name as in ``$share/NAME/FILTER``, or a pattern of such with ``*`` for any characters.

    Raises:
        ValueError: what no share name has, empty, or longer than 256 bytes.
    """
    is_named = 0 < len(name.encode("utf-8", "replace")) <= _NAME_BYTES_MAX
    if not is_named or not name.isprintable() or not {"/", "+", "#"}.isdisjoint(name):
        raise ValueError('use 1 to 256 bytes without "/", "+" and "#", * for any characters: "alarms", "alarm-*"')
    return name


def _parse_class(text: str) -> str:
    """``parse_use``, where no "off" is wanted: a key that is left out says it already."""
    if (found := parse_use(text)) is None:
        raise ValueError("leave the key out for none")
    return found


Filter = Annotated[str, AfterValidator(parse_filter)]
GroupName = Annotated[str, AfterValidator(parse_group_name)]
ParameterName = Annotated[str, AfterValidator(parse_parameter_name)]
PythonClass = Annotated[str, AfterValidator(_parse_class)]
StrategyName = Annotated[str, AfterValidator(parse_strategy)]
Topic = Annotated[str, AfterValidator(parse_topic)]


class GroupConfig(BaseModel):
    """A consumer group, `$share/NAME/...`: see [groups.md](groups.md).

    NAME is a share name or a pattern with `*`: `[groups."alarm-*"]`. A group has the table of its own name, else that
    of the longest pattern that fits, else the defaults.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: StrategyName = "auto"
    """How the member for a message is chosen; "auto": by least expected finish, as far as members let it be known."""

    parameters: Annotated[
        dict[ParameterName, float], BeforeValidator(check_number_of_parameters), AfterValidator(check_parameters)
    ] = {}
    """Numbers of the strategy by name, as in `{ window = 3 }`; [groups.md](groups.md#parameters) has them all."""

    key: Literal["client", "topic"] = "client"
    """Whose messages keep their order under "key-ordered": those of one publisher's client id, or of one topic."""

    use: PythonClass | None = None
    """`"package.module:ClassName"` of a class derived from `lapwing.Strategy`, instead of `strategy`."""

    fallback: StrategyName = "auto"
    """With `use`: the strategy that answers where the class is late or fails."""

    timeout: Duration = Field(default=5, ge=1, le=60_000, serialization_alias="timeout_ms")
    """With `use`: how long the class may take for an answer."""

    filters: Annotated[list[Filter], Field(max_length=1_000)] = []
    """Declares durable groups, one a filter: they exist from the start and keep QoS 1 and 2 without members."""

    expiry: Duration = Field(default=0, serialization_alias="expiry_ms")
    """A declared group without members and messages ends after this. 0: never."""

    queue_messages_max: int = Field(default=100_000, ge=1, le=2**32 - 1)
    """Messages that may wait in one group."""

    queue_bytes_max: Size = Field(default=64 << 20, ge=1)
    """Bytes that may wait in one group."""

    overflow: Literal["drop-oldest", "drop-newest"] = "drop-oldest"
    """Which message gives way when the queue is full; bulk always before critical."""

    expired: Literal["deliver", "drop", "dead-letter"] = "deliver"
    """What happens to a message whose deadline passes while it waits."""

    dead_letter_topic: Topic | None = None
    """Where dead letters are published; required with `expired = "dead-letter"`."""

    missed_topic: Topic | None = None
    """Where each missed deadline is told, as JSON at QoS 0."""

    behind: Duration = Field(default=10_000, serialization_alias="behind_ms")
    """The group is behind when more work than this waits, in time that its members need for it. 0: nobody is told."""

    acknowledges: Literal["undeclared", "processed", "received"] = "undeclared"
    """What the acknowledgement of members means that declare nothing: the message is "processed", or "received"."""

    workers: int = Field(default=1, ge=1, le=1_024)
    """How many messages members work on at a time that declare nothing."""

    rules: Annotated[list[GroupRule], Field(max_length=1_000)] = []
    """Priority and deadline by topic for messages without the properties, as in
    `[{ topics = ["alarms/fire/#"], priority = "critical", deadline = "250ms" }]`; the first that fits."""

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        refuse_all(self, self._problems())
        return self

    def _problems(self) -> Iterator[str]:
        """What does not go together, in words."""
        if self.use is not None and self.strategy != "auto":
            yield "give strategy or use, not both; with use, fallback names what stands in"
        if self.expired == "dead-letter" and self.dead_letter_topic is None:
            yield 'expired = "dead-letter" needs dead_letter_topic: name the topic'
        if len(set(self.filters)) < len(self.filters):
            yield "a filter is there twice: remove one of them"
        for name, topic in (("dead_letter_topic", self.dead_letter_topic), ("missed_topic", self.missed_topic)):
            own = next((filter_ for filter_ in self.filters if topic and filter_matches(filter_, topic)), None)
            if own is not None:
                yield f'{name} is matched by the group\'s own filter "{own}": name a topic outside it'


def check_group_tables(groups: dict[str, GroupConfig]) -> dict[str, GroupConfig]:
    """Tables that declare groups have a name, not a pattern.

    Raises:
        ValueError: one of them has a pattern.
    """
    wrong = next((name for name, group in groups.items() if "*" in name and group.filters), None)
    if wrong is not None:
        raise ValueError(f'"{wrong}" has filters: declare durable groups under a name without *')
    return groups


Groups = Annotated[dict[GroupName, GroupConfig], Field(max_length=GROUP_TABLES_MAX), AfterValidator(check_group_tables)]


def group_table(group: GroupConfig) -> dict[str, Any]:
    """A group's table in the node's own names and units."""
    return group.model_dump(by_alias=True)
