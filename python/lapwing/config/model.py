"""The whole configuration as one typed, frozen model; what is not a field here is an error.

A ``Config`` made in Python holds what it is given, and defaults: neither environment nor files are read by
accident. ``lapwing.config.load`` puts its layers (file, environment, flags) under it while it builds one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from lapwing.config.addresses import parse_http_address, parse_listen_url
from lapwing.config.audit import AuditSection
from lapwing.config.auth import AuthSection, access_tables, guess_table
from lapwing.config.bridge import BridgeSection
from lapwing.config.cluster import ClusterSection, cluster_problems
from lapwing.config.dispatch import DispatchSection
from lapwing.config.envelope import EnvelopeSection
from lapwing.config.events import EventsSection
from lapwing.config.groups import Groups, group_table
from lapwing.config.hold import Holds
from lapwing.config.hooks import HooksSection
from lapwing.config.http import HttpSection, http_problem
from lapwing.config.layers import Layer
from lapwing.config.limits import Limits
from lapwing.config.listeners import ListenerConfig, node_table
from lapwing.config.log import LogSection
from lapwing.config.off import OFF
from lapwing.config.profiles import ProfileName, with_profile
from lapwing.config.rules import Rules
from lapwing.config.streams import StreamConfig, StreamName
from lapwing.config.sys_tree import SysSection
from lapwing.config.topic_tables import Topics, topic_tables
from lapwing.config.units import Duration

_STREAMS_MAX = 256
_DATA_GROUPS = 16
_layers: ContextVar[tuple[Layer, ...]] = ContextVar("lapwing_config_layers", default=())


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _named(value: object) -> object:
    """An empty path is this folder, which nobody has meant who wrote `--data "$DATA"`."""
    if value == "":
        raise ValueError('must name a folder; "." is this one')
    return value


ListenUrl = Annotated[str, AfterValidator(parse_listen_url)]
HttpAddress = Annotated[str, AfterValidator(parse_http_address)] | None


def _off_is_none(value: object) -> object:
    return None if value == "off" else value


ClientText = Annotated[str, Field(min_length=1, max_length=1_024, pattern="^[^\\x00]*$")]
TopicText = Annotated[str, Field(min_length=1, max_length=1_024, pattern="^[^\\x00+#]*$")]


class BrokerSection(BaseModel):
    """Where the broker listens, keeps its data, and how many cores it uses."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    listen: Annotated[list[ListenUrl], BeforeValidator(_one_or_many)] = Field(
        default=["tcp://127.0.0.1:1883"], max_length=64
    )
    """URLs of listeners with default settings; port 0 lets the system choose. Where there is [[listeners]], none."""

    profile: ProfileName = "standard"
    """Which defaults hold where nothing else is said: "edge" is for a gateway with little memory and flash, and a
    thousand clients at most (docs/edge.md); `lapwing config show` says which values come from it."""

    http: HttpAddress = "127.0.0.1:8080"
    """HOST:PORT of streams, health and metrics over HTTP; "off" for none."""

    data: Annotated[Path, BeforeValidator(_named)] = Path("lapwing-data")
    """Folder of the log; made if missing. One broker at a time."""

    files: Literal["strict", "warn"] = "strict"
    """What happens where others than root and the broker's own account may write the files it believes (configuration,
    users, certificates, keys, hooks) or a folder on the way to them, or the data folder: "strict" refuses the start, or
    the reload; "warn" says so, for machines whose modes are not to be had otherwise."""

    user: Annotated[Annotated[str, Field(pattern="^[^\\x00]*$")] | None, OFF] = None
    """Name or uid of the account to become once the ports are bound, on Linux, where the broker is started as root;
    "off": it stays who it is."""

    durability: Literal["disk", "memory"] = "disk"
    """Where sessions that outlive their connections, what waits for them, and retained messages are kept: "disk": what
    is acknowledged is there after a crash; "memory": as long as the broker runs. Streams are on disk in any case."""

    log_init_zero: bool = True
    """Write zeros to a segment of the log before it is used: what is acknowledged is on disk sooner, two to five times
    on a file system with a journal. Twice as much is written; false where flash must last, or files are copied on
    write (Btrfs, ZFS)."""

    shards: int = Field(default=0, ge=0, le=64)
    """Data threads; 0 means one per core, and one where there are two cores. At most 16 with durability = "disk"."""

    pin: bool = True
    """Keep each data thread on a core of its own."""

    pin_first: int = Field(default=0, ge=0, le=4_095)
    """The first core to pin to; shard N takes core pin_first + N."""

    @field_validator("shards")
    @classmethod
    def _shards_have_data_groups(cls, shards: int, others: ValidationInfo) -> int:
        if shards > _DATA_GROUPS and others.data.get("durability") == "disk":
            raise PydanticCustomError(
                "shards", 'at most 16 with durability = "disk": each needs one of the 16 data groups'
            )
        return shards

    server_reference: Annotated[ClientText | None, OFF] = None
    """Where clients may go while this broker is away, told to 5.0 clients (0x9C) when it shuts down; "off": nowhere."""

    server_moved: bool = False
    """Clients are to go to server_reference for good: 0x9D instead of 0x9C."""

    @field_validator("server_moved")
    @classmethod
    def _moved_somewhere(cls, moved: bool, others: ValidationInfo) -> bool:
        if moved and others.data.get("server_reference") is None:
            raise PydanticCustomError("server_moved", "name the other server in server_reference, or leave this out")
        return moved

    response_information_prefix: Annotated[TopicText | None, OFF] = None
    """What the Response Information of a client that requests it begins with; its client id follows. "off": none."""

    drain: Duration = Field(default=10_000, le=3_600_000, serialization_alias="drain_ms")
    """How long SIGTERM waits for what is in flight."""


class Config(BaseSettings):
    """The configuration of one broker."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    broker: BrokerSection = BrokerSection()
    listeners: list[ListenerConfig] = Field(default=[], max_length=64)
    http: HttpSection = HttpSection()
    hooks: HooksSection = HooksSection()
    log: LogSection = LogSection()
    limits: Limits = Limits()
    sys: SysSection = SysSection()
    events: EventsSection = EventsSection()
    audit: AuditSection = AuditSection()
    cluster: ClusterSection = ClusterSection()
    envelope: EnvelopeSection = EnvelopeSection()
    streams: dict[StreamName, StreamConfig] = Field(default={}, max_length=_STREAMS_MAX)
    topics: Topics = {}
    dispatch: DispatchSection = DispatchSection()
    groups: Groups = {}
    hold: Holds = {}
    auth: AuthSection = AuthSection()
    rules: Rules = []
    bridge: BridgeSection = BridgeSection()

    @model_validator(mode="after")
    def _http_is_safe(self) -> Self:
        problem = http_problem(self.broker.http, self.http, knows_somebody=self.auth.knows_somebody)
        if problem:
            wrong = _at(("broker", "http"), self.broker.http, problem)
            raise ValidationError.from_exception_data("Config", [wrong])
        return self

    @model_validator(mode="after")
    def _what_is_on_disk_has_one(self) -> Self:
        tables = [(("listeners", str(index)), listener.durability) for index, listener in enumerate(self.listeners)]
        tables += [(("topics", filter_), table.durability) for filter_, table in self.topics.items()]
        tables += [(("hold", filter_), table.durability) for filter_, table in self.hold.items()]
        problem = 'broker.durability is "memory": set that to "disk", or leave this out'
        wrong = [
            _at((*path, "durability"), "disk", problem)
            for path, durability in tables
            if durability == "disk" and self.broker.durability == "memory"
        ]
        if wrong:
            raise ValidationError.from_exception_data("Config", wrong)
        return self

    @model_validator(mode="after")
    def _a_member_keeps_all_it_has(self) -> Self:
        if wrong := [_at(path, value, why) for path, value, why in cluster_problems(self)]:
            raise ValidationError.from_exception_data("Config", wrong)
        return self

    @model_validator(mode="before")
    @classmethod
    def _profile_says_the_rest(cls, data: Any) -> Any:
        # `load` has it as a layer already; here it is for those who build one in Python.
        models: dict[str, type[BaseModel]] = {"broker": BrokerSection, "http": HttpSection, "limits": Limits}
        return with_profile(data, models) if isinstance(data, dict) else data

    @model_validator(mode="before")
    @classmethod
    def _listeners_take_the_place_of_the_default(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not data.get("listeners"):
            return data
        broker = data.get("broker", {})
        if isinstance(broker, dict) and "listen" not in broker:
            return {**data, "broker": {**broker, "listen": []}}
        if isinstance(broker, BrokerSection) and "listen" not in broker.model_fields_set:
            return {**data, "broker": broker.model_copy(update={"listen": []})}
        return data

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given, then the layers of ``load`` while it runs; nothing else is read."""
        del env_settings, dotenv_settings, file_secret_settings
        return (init_settings, *(_LayerSource(settings_cls, layer) for layer in _layers.get()))


def _at(path: tuple[str, ...], value: object, problem: str) -> InitErrorDetails:
    """An error of the whole configuration, placed where its reader will look for it."""
    return InitErrorDetails(type=PydanticCustomError("unsafe", "{why}", {"why": problem}), loc=path, input=value)


class _LayerSource(PydanticBaseSettingsSource):
    """Hands one layer's table to pydantic-settings, which merges tables key by key."""

    def __init__(self, settings_cls: type[BaseSettings], layer: Layer) -> None:
        super().__init__(settings_cls)
        self.layer = layer

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Part of the base's interface; ``__call__`` answers for all fields at once."""
        del field
        return self.layer.values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return self.layer.values


def node_json(config: Config) -> str:
    """What ``lapwing._core.Node`` is started with: the node's own names and units; files it names are read now."""
    document = {
        "listen": config.broker.listen,
        "listeners": [node_table(listener) for listener in config.listeners],
        "shards": config.broker.shards,
        "pin": config.broker.pin,
        "pin_first": config.broker.pin_first,
        "data_dir": str(config.broker.data),
        "durability": config.broker.durability,
        "log_init_zero": config.broker.log_init_zero,
        "server_reference": config.broker.server_reference,
        "server_moved": config.broker.server_moved,
        "response_information_prefix": config.broker.response_information_prefix,
        "limits": config.limits.model_dump(by_alias=True),
        "sys": config.sys.model_dump(by_alias=True),
        "events": config.events.model_dump(by_alias=True),
        "audit": config.audit.model_dump(mode="json", by_alias=True),
        "envelope": config.envelope.model_dump(by_alias=True),
        "hooks": config.hooks.model_dump(by_alias=True, exclude={"use"}),
        "streams": {name: stream.model_dump(by_alias=True) for name, stream in config.streams.items()},
        "topics": topic_tables(config.topics),
        "dispatch": config.dispatch.model_dump(by_alias=True),
        "groups": {name: group_table(group) for name, group in config.groups.items()},
        "hold": {filter_: hold.model_dump(by_alias=True) for filter_, hold in config.hold.items()},
        "guesses": guess_table(config.auth),
        **access_tables(config),
    }
    return json.dumps(document)


@contextmanager
def layered(layers: tuple[Layer, ...]) -> Iterator[None]:
    """While it is open, a new ``Config`` is built over ``layers``, the strongest first."""
    token = _layers.set(layers)
    try:
        yield
    finally:
        _layers.reset(token)
