"""Whether the files that ``lapwing bridge run`` would open can be used: read, and for TLS loaded by OpenSSL."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from lapwing.credentials import read_secret
from lapwing.errors import ConfigError, LapwingError
from lapwing.rsa_bits import weak_key_in

if TYPE_CHECKING:
    from lapwing.config import Config
    from lapwing.config.bridge_sides import BridgeKafka, BridgeMqtt


def bridge_faults(config: Config) -> Iterator[LapwingError]:
    """Of every file under ``[bridge]``, where there is a rule."""
    if not (config.bridge.to_kafka or config.bridge.to_mqtt):
        return
    missing = list(_unreadable_in(config.bridge, "bridge"))
    yield from missing
    if not missing:
        yield from _tls_faults(config.bridge.mqtt, "bridge.mqtt")
        yield from _tls_faults(config.bridge.kafka, "bridge.kafka")


def unreadable(file: Path, key: str, reader: str) -> Iterator[LapwingError]:
    """One where a file cannot be read; ``reader``: who would."""
    if not (file.is_file() and os.access(file, os.R_OK)):
        remedy = f"name a file that exists and that the {reader} may read"
        yield ConfigError(f"{key} cannot be read", where=str(file), remedy=remedy)


def _unreadable_in(table: BaseModel, key: str) -> Iterator[LapwingError]:
    for name in type(table).model_fields:
        value = getattr(table, name)
        if isinstance(value, BaseModel):
            yield from _unreadable_in(value, f"{key}.{name}")
        elif isinstance(value, Path):
            yield from unreadable(value, f"{key}.{name}", "bridge")


def _tls_faults(side: BridgeMqtt | BridgeKafka, name: str) -> Iterator[LapwingError]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if side.ca is not None:
        try:
            context.load_verify_locations(side.ca)
        except (OSError, ValueError) as error:
            yield _unusable(f"{name}.ca", side.ca, error, "name a file of certificates in PEM")
        if weak := weak_key_in(side.ca):
            remedy = "name an authority with RSA of 2048 bits or more, or ECDSA"
            yield ConfigError(f"{name}.ca: a key is {weak}", where=str(side.ca), remedy=remedy)
    if side.certificate is None:
        return
    if weak := weak_key_in(side.certificate):
        remedy = "make an ECDSA P-256 key, or RSA of 2048 bits or more, and a certificate for it"
        yield ConfigError(f"{name}.certificate: its key is {weak}", where=str(side.certificate), remedy=remedy)
        return
    key = side.key or side.certificate
    password_file = getattr(side, "key_password_file", None)
    if password_file is None and name == "bridge.kafka" and b"ENCRYPTED" in key.read_bytes():
        return  # the environment may have what opens it
    try:
        password = "" if password_file is None else read_secret(password_file, "key's password")
        # A password in any case, so that an encrypted key is an error and not a question at a terminal.
        context.load_cert_chain(side.certificate, key, password=password or "")
    except (OSError, ValueError) as error:
        remedy = "give certificate and key in PEM, each the other's"
        yield _unusable(f"{name}.certificate", side.certificate, error, remedy)


def _unusable(key: str, file: Path, error: Exception, remedy: str) -> ConfigError:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
    return ConfigError(f"{key} cannot be used: {reason}", where=str(file), remedy=remedy)
