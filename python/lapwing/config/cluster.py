"""The ``[cluster]`` table: this node as a member of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from lapwing.config.off import OFF, OptionalFile, has_settings
from lapwing.config.units import Duration, Size
from lapwing.host_port import join_host_port, split_host_port

if TYPE_CHECKING:
    from lapwing.config.model import Config

_ADDRESSES_MAX = 8
_ADDRESS_CHARACTERS_MAX = 259
_HEARTBEATS = 3
"""Who misses so many of them may stand for election."""

NodeName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


def parse_peer_address(text: str) -> str:
    """``HOST:PORT`` of a node, for other nodes.

    Raises:
        ValueError: it is none.
    """
    address = join_host_port(*split_host_port(text))
    if len(address) > _ADDRESS_CHARACTERS_MAX or not address.isascii() or not address.isprintable() or " " in address:
        raise ValueError('must be HOST:PORT in ASCII, as in "10.0.0.1:1890"')
    return address


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


PeerAddress = Annotated[str, AfterValidator(parse_peer_address)]


class ClusterSection(BaseModel):
    """This node as a member of a cluster ([cluster.md](cluster.md)); without `name` it is a node on its own.

    Its data folder is made by `lapwing cluster init`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[NodeName | None, OFF] = None
    """What people call this node, one of its own in the cluster; required where anything else stands here."""

    listen: PeerAddress = "127.0.0.1:1890"
    """HOST:PORT where other nodes connect, with certificates of the cluster alone."""

    advertise: Annotated[list[PeerAddress], BeforeValidator(_one_or_many)] = Field(
        default=[], max_length=_ADDRESSES_MAX
    )
    """Where other nodes reach this one, HOST:PORT, one or several; none: where it listens."""

    zone: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{0,64}$")] = ""
    """Where it stands: nodes of one zone may fail together."""

    heartbeat: Duration = Field(default=200, ge=20, le=60_000, serialization_alias="heartbeat_ms")
    """The leader speaks to every node at least so often."""

    election: Duration = Field(default=1_000, ge=60, le=600_000, serialization_alias="election_ms")
    """A node that has heard of no leader for so long, and up to half more, stands for election: three heartbeats at
    least. The same at all nodes."""

    tail_bytes: Size = Field(default=64 << 20, ge=1 << 20, le=16 << 30)
    """Memory for what other nodes may lack yet; who lags further is sent it from disk."""

    move_bytes_per_s: Size = Field(default=50 << 20, ge=1 << 20, le=1 << 40)
    """Bytes a second at which a node that lacks too much is sent what it lacks, to each such node."""

    certificate: OptionalFile = None
    """This node's certificate for the others, in PEM, of an authority of your own; "off": the one of `init`."""

    key: OptionalFile = None
    """Its private key, in PEM, not encrypted."""

    ca: OptionalFile = None
    """The authorities whose nodes count, in PEM."""

    @field_validator("election")
    @classmethod
    def _some_heartbeats(cls, election: int, others: ValidationInfo) -> int:
        if election < _HEARTBEATS * others.data.get("heartbeat", 0):
            raise PydanticCustomError("election", "must be three times cluster.heartbeat at least")
        return election

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.name is None and has_settings(self):
            raise PydanticCustomError("cluster", "name is missing: what people call this node; or leave [cluster] out")
        files = self.certificate, self.key, self.ca
        if any(files) and not all(files):
            raise PydanticCustomError("cluster", "give certificate, key and ca, or none of them")
        return self


def cluster_problems(config: Config) -> list[tuple[tuple[str, str], object, str]]:
    """What a member cannot have yet: a key, what it is, and what to do."""
    problems: list[tuple[tuple[str, str], object, str]] = []
    if config.cluster.name is None:
        return problems
    if config.broker.durability == "memory":
        why = '[cluster] copies what is on disk: set this to "disk", or leave [cluster] out'
        problems.append((("broker", "durability"), "memory", why))
    problems += [
        (("streams", name), "", "streams are not copied by [cluster] yet: leave out [streams], or [cluster]")
        for name in config.streams
    ]
    return problems


def cluster_json(config: Config) -> str | None:
    """What ``lapwing._core.Node`` is told of it; None: a node on its own."""
    if config.cluster.name is None:
        return None
    return config.cluster.model_dump_json(by_alias=True)
