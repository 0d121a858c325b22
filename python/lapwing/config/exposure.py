"""What a configuration leaves open to others that its writer may not have meant: a line each, for the start to say.

Not wrong, so not refused: something in front may encrypt, a container may have no other account.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import TYPE_CHECKING

from lapwing.config.addresses import is_local, scheme_of

if TYPE_CHECKING:
    from lapwing.config.model import Config

_ROOT = (
    "the broker runs as root: set broker.user to the name of an account, which it becomes once its ports are bound, or"
    " start it as one"
)


def exposures(config: Config, *, is_root: bool = False, has_hooks: bool = False) -> list[str]:
    """What to say of ``config``, the worst first.

    Args:
        config: The whole configuration.
        is_root: The broker is root, and stays it.
        has_hooks: Hooks judge clients, beside what the configuration says.
    """
    return [
        *([_ROOT] if is_root else []),
        *_plain_passwords(config, has_hooks=has_hooks),
        *_any_audience(config),
        *_any_proxy(config),
    ]


def _plain_passwords(config: Config, *, has_hooks: bool) -> Iterator[str]:
    if not (has_hooks or config.auth.knows_somebody or config.hooks.use is not None):
        return  # nobody is asked for a password
    named = [listener.url for listener in config.listeners if listener.identity == "password"]
    open_urls = [
        url for url in (*config.broker.listen, *named) if scheme_of(url) in ("tcp", "ws") and not is_local(url)
    ]
    if open_urls:
        urls = ", ".join(open_urls)
        yield f"passwords go in the clear over {urls}: use tls or wss, or let something in front of it encrypt"


def _any_audience(config: Config) -> Iterator[str]:
    jwt = config.auth.jwt
    if jwt.is_on and jwt.secret_file is None and not jwt.audience:
        yield (
            "auth.jwt takes tokens of its issuer that are for other services: set auth.jwt.audience to what yours say"
            " in aud"
        )


def _any_proxy(config: Config) -> Iterator[str]:
    for number, listener in enumerate(config.listeners):
        if any(map(_is_everybody, _joined(listener.proxy_protocol_from))):
            yield (
                f"listeners.{number}.proxy_protocol_from takes everybody for a proxy, so whoever connects to"
                f" {listener.url} says which address he comes from: name the networks of your proxies"
            )


def _joined(networks: list[str]) -> Iterator[IPv4Network | IPv6Network]:
    """The networks, neighbours as one: two halves of all addresses are all of them."""
    parsed = [ip_network(text, strict=False) for text in networks]
    yield from collapse_addresses(network for network in parsed if isinstance(network, IPv4Network))
    yield from collapse_addresses(network for network in parsed if isinstance(network, IPv6Network))


def _is_everybody(network: IPv4Network | IPv6Network) -> bool:
    return network.prefixlen == 0
