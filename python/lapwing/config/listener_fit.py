"""Which keys of a listener fit its scheme, and each other.

Judged from what is written alone: files are not opened, and whether a listener is open by accident is told elsewhere
(``lapwing.config.openness``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lapwing.config.addresses import has_tls, scheme_of, speaks_sn
from lapwing.config.predefined import check_predefined

if TYPE_CHECKING:
    from lapwing.config.listeners import ListenerConfig

_SEALED_BYTES_MIN = 256
_SEALED_BYTES_MAX = 16_384
"""Datagrams of DTLS: a handshake goes in pieces of them, a message in one record."""

_ONLY_TLS = ("certificate", "key", "client_ca", "crl", "client_certificate")
_ONLY_WEB = ("path", "origins", "hosts")
_ONLY_UNIX = ("mode",)
_NOT_UNIX = ("proxy_protocol_from", "connects_per_address_per_s")
_ONLY_SNS = ("psk",)
ONLY_SN = (
    "gateway_id", "datagram_bytes_max", "retry", "retries_max", "registrations_max", "waiting_messages_max",
    "wills_kept_max", "datagrams_per_turn_max", "publish_without_connect", "predefined", "advertise_to",
    "advertise_every",
)  # fmt: skip
"""What the node has in a table of its own."""

_NOT_SN = ("proxy_protocol_from", "behind_proxy", "packet_bytes_max")


def unfit(listener: ListenerConfig) -> Iterator[str]:
    """What does not go together, in words."""
    scheme = scheme_of(listener.url)
    misplaced = [
        *(() if has_tls(listener.url) else _ONLY_TLS),
        *(() if scheme == "sns" else _ONLY_SNS),
        *(_ONLY_WEB if scheme not in ("ws", "wss") else ()),
        *(_ONLY_UNIX if scheme != "unix" else _NOT_UNIX),
        *(_NOT_SN if speaks_sn(listener.url) else ONLY_SN),
    ]
    defaults = type(listener).model_fields
    misplaced = [key for key in misplaced if getattr(listener, key) != defaults[key].default]
    for key in misplaced:
        yield f"{key} has no meaning for {scheme}: remove it, or change the url's scheme"
    has_keys_only = scheme == "sns" and listener.psk is not None and not (listener.certificate or listener.key)
    if has_tls(listener.url) and not has_keys_only:
        for key in ("certificate", "key"):
            if getattr(listener, key) is None:
                yield f"{key} is missing: {scheme} needs certificate and key, the names of PEM files"
    yield from check_predefined(listener.predefined)
    if listener.client_certificate != "none" and listener.client_ca is None and "client_certificate" not in misplaced:
        yield "client_ca is missing: name the PEM file of the authorities that sign client certificates"
    if listener.client_certificate == "none" and listener.client_ca is not None and "client_ca" not in misplaced:
        yield 'client_ca is set but no certificate is asked for: set client_certificate to "required" or "optional"'
    if listener.client_certificate == "none" and listener.crl and "crl" not in misplaced:
        yield 'crl is set but no certificate is asked for: set client_certificate to "required" or "optional"'
    if listener.client_certificate == "none" and listener.identity != "password":
        yield f'identity = "{listener.identity}" needs client_certificate = "required" or "optional"'
    if scheme == "sns":
        yield from _unfit_for_dtls(listener)


def _unfit_for_dtls(listener: ListenerConfig) -> Iterator[str]:
    """What DTLS has no way to do, in words."""
    if listener.certificate is None and listener.psk is not None and listener.client_certificate != "none":
        yield "client_certificate needs a certificate of the listener's own: set certificate and key, or leave it out"
    if listener.client_certificate == "optional":
        yield 'client_certificate = "optional" is not possible with DTLS: set it to "required" or "none"'
    if not _SEALED_BYTES_MIN <= listener.datagram_bytes_max <= _SEALED_BYTES_MAX:
        yield f"datagram_bytes_max must be {_SEALED_BYTES_MIN} to {_SEALED_BYTES_MAX} with DTLS"
    if listener.advertise_to is not None:
        yield "advertise_to has no meaning for sns, nobody could read it: remove it"
    if listener.publish_without_connect and not listener.takes_anonymous:
        yield "publish_without_connect lets nobody publish while anonymous is false: remove it, or set anonymous = true"
