"""Whether addresses can be listened on: as the configuration names them twice, and as this machine has them."""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lapwing.config.addresses import speaks_sn
from lapwing.errors import AddressInUseError, ConfigError, LapwingError
from lapwing.host_port import split_host_port
from lapwing.listening import addresses_of
from lapwing.rehearsal.bridge_there import is_bridge

if TYPE_CHECKING:
    from lapwing.config import Config


class Place(NamedTuple):
    """Of a socket; of a Unix socket its path, and port 0. A port of TCP and one of UDP are two.

    Attributes:
        zone: Of an address of a link (``fe80::1%eth0``) the number of its interface; 0: none.
    """

    kind: socket.SocketKind
    family: socket.AddressFamily
    host: str
    port: int
    zone: int = 0

    @property
    def target(self) -> tuple[str, int] | tuple[str, int, int, int]:
        """What a socket is bound to; an address of a link means nothing without its zone."""
        return (self.host, self.port, 0, self.zone) if self.zone else (self.host, self.port)


_WILD = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound
_UNIX_PATH_BYTES_MAX = 107 if sys.platform == "linux" else 103
"""What the kernel's address of a Unix socket has room for."""
_TAKEN_REMEDY = "stop the program that uses it, or choose another (port 0 takes any free one)"


def check_twins(config: Config) -> None:
    """Raises `ConfigError` where one address is named twice: a start would take its first one for somebody else's."""
    faults = [twin for _, _, twin in _with_twins(_places(config)) if twin is not None]
    if faults:
        raise ConfigError("the configuration is wrong", problems=faults)


def port_faults(config: Config) -> Iterator[LapwingError]:
    """One for each address that is named twice, or that cannot be had; names, folders and rights included."""
    bridge = [(key, url) for key, url in _bridge_places(config) if _host_port(url)[1] != 0]
    for key, url, twin in _with_twins([*_places(config), *bridge]):
        if twin is not None:
            yield twin
        elif (key, url) in bridge:
            yield from _bridge_faults(key, url)
        elif url.startswith("unix://"):
            yield from _unix_faults(key, url.removeprefix("unix://"))
        else:
            yield from _net_faults(key, url)


def _with_twins(places: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, ConfigError | None]]:
    """Each key with its URL, and what is wrong where one before it has the same."""
    seen: dict[Place, str] = {}
    for key, url in places:
        addresses = _addresses(url)
        twin = next((seen[known] for address in addresses for known in seen if _overlap(address, known)), None)
        for address in addresses:
            seen.setdefault(address, key)
        is_unix = url.startswith("unix://")
        what, each = ("socket", "its own path") if is_unix else ("port", "a port of its own")
        where = url.removeprefix("unix://")
        remedy = f"give each {each}"
        yield key, url, ConfigError(f"{key} is the same {what} as {twin}", where=where, remedy=remedy) if twin else None


def _addresses(url: str) -> list[Place]:
    """None of a port that the system chooses, and none of a host that stands for nothing: that is another fault."""
    if url.startswith("unix://"):
        return [Place(socket.SOCK_STREAM, socket.AF_UNIX, url.removeprefix("unix://"), 0)]
    host, port = _host_port(url)
    try:
        return _resolved(url, host, port) if port else []
    except OSError:
        return []


def _host_port(url: str) -> tuple[str, int]:
    return split_host_port(url.partition("://")[2].partition("/")[0])


def _places(config: Config) -> Iterator[tuple[str, str]]:
    for number, url in enumerate(config.broker.listen):
        if not (config.listeners and "listen" not in config.broker.model_fields_set):
            yield f"broker.listen.{number}", url
    for number, listener in enumerate(config.listeners):
        yield f"listeners.{number}.url", listener.url
    if config.broker.http is not None:
        yield "broker.http", f"http://{config.broker.http}"


def _bridge_places(config: Config) -> Iterator[tuple[str, str]]:
    """Where the bridge of the same file would listen; a broker takes no notice of it."""
    bridge = config.bridge
    if bridge.metrics is not None and (bridge.to_kafka or bridge.to_mqtt):
        yield "bridge.metrics", f"http://{bridge.metrics}"


def _net_faults(key: str, url: str) -> Iterator[LapwingError]:
    host, port = _host_port(url)
    if port == 0:
        return
    try:
        addresses = _resolved(url, host, port)
    except OSError as error:
        yield ConfigError(f"{key}: {host!r} stands for no address: {error.strerror}", where=url, remedy="name another")
        return
    faults = [fault for address in addresses if (fault := _bind_fault(address)) is not None]
    taken = [fault for fault in faults if fault.errno == errno.EADDRINUSE]
    if taken:
        yield AddressInUseError(f"{key}: another process listens there", where=url, remedy=_TAKEN_REMEDY)
    elif len(faults) == len(addresses):
        remedy = "choose an address of this machine, and a port of 1024 or above or the right to take others"
        yield ConfigError(f"{key} cannot be listened on: {faults[0].strerror}", where=url, remedy=remedy)


def _bridge_faults(key: str, url: str) -> Iterator[LapwingError]:
    """As of any address; but the bridge itself may run already, while the broker does not."""
    for fault in _net_faults(key, url):
        if not (isinstance(fault, AddressInUseError) and is_bridge(*_host_port(url))):
            yield fault


def _resolved(url: str, host: str, port: int) -> list[Place]:
    kind = socket.SOCK_DGRAM if speaks_sn(url) else socket.SOCK_STREAM
    return [Place(kind, family, str(target[0]), port, *target[3:]) for family, target in addresses_of(host, port)]


def _overlap(one: Place, other: Place) -> bool:
    """Whether two listeners cannot have both: one port, and one address or any; ``[::]`` is all of IPv4, too."""
    if (one.kind, one.port) != (other.kind, other.port):
        return False
    wild = [place for place in (one, other) if place.host in _WILD]
    return (one.host, one.zone) == (other.host, other.zone) or any(
        place.host == "::" or one.family == other.family for place in wild
    )


def _bind_fault(address: Place) -> OSError | None:
    """Why it cannot be bound, as a broker would; it does not listen, so that nobody connects."""
    with socket.socket(address.family, address.kind) as probe:
        if address.kind is socket.SOCK_STREAM:
            # Connections of before may linger there; of datagrams it would share a port that is taken.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address.target)
        except OSError as error:
            return error
    return None


def unix_faults(config: Config) -> Iterator[LapwingError]:
    """Of Unix sockets alone: their paths, folders, and what lies there."""
    for key, url in _places(config):
        if url.startswith("unix://"):
            yield from _unix_faults(key, url.removeprefix("unix://"))


def _unix_faults(key: str, path: str) -> Iterator[LapwingError]:
    folder, length = Path(path).parent, len(os.fsencode(path))
    if length > _UNIX_PATH_BYTES_MAX:
        what = f"{key}: the path of the socket has {length} bytes, and {_UNIX_PATH_BYTES_MAX} is the most"
        yield ConfigError(what, where=path, remedy="choose a shorter one")
    elif not folder.is_dir():
        yield ConfigError(f"{key}: its folder does not exist", where=str(folder), remedy="make it first")
    elif not os.access(folder, os.W_OK | os.X_OK):
        yield ConfigError(f"{key}: its folder cannot be written", where=str(folder), remedy="choose another")
    elif os.path.lexists(path):
        yield from _existing_faults(key, path)


def _existing_faults(key: str, path: str) -> Iterator[LapwingError]:
    """What lies there is a socket that nobody listens at, or in the way."""
    if not stat.S_ISSOCK(os.lstat(path).st_mode):
        remedy = "a file that is no socket is never removed: choose another path, or move it away"
        yield ConfigError(f"{key}: a file lies there that is no socket", where=path, remedy=remedy)
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return  # left by a crash: the start removes it
        except OSError:
            pass  # somebody listens, and will not have us
    yield AddressInUseError(f"{key}: another process listens there", where=path, remedy=_TAKEN_REMEDY)
