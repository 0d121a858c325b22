"""Which files a configuration makes the broker believe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lapwing.config import Config, HttpCheckSection, HttpSection, JwtSection, ListenerConfig


@dataclass(frozen=True, slots=True)
class Believed:
    """A file, the key that names it, and whether what is in it is to stay secret."""

    path: Path
    key: str
    is_secret: bool = False


def believed_files(config: Config, file: Path | None = None) -> Iterator[Believed]:
    """Every file that decides who may what here, or that runs as code of the broker.

    Args:
        config: The whole configuration.
        file: Where it was read from, if from a file.
    """
    if file is not None:
        yield Believed(file, "--config")  # no key of it is a secret
    if config.auth.users is not None:
        yield Believed(config.auth.users, "auth.users", is_secret=True)
    yield from _of_jwt(config.auth.jwt)
    yield from _of_http_check(config.auth.http)
    for number, listener in enumerate(config.listeners):
        yield from _of_tls(listener, f"listeners.{number}")
        if listener.psk is not None:
            yield Believed(listener.psk, f"listeners.{number}.psk", is_secret=True)
    yield from _of_tls(config.http, "http")
    uses = {
        "hooks.use": config.hooks.use,
        **{f'groups."{name}".use': group.use for name, group in config.groups.items()},
    }
    for key, use in uses.items():
        for path in module_files(use) if use is not None else ():
            yield Believed(path, key)


def _of_jwt(jwt: JwtSection) -> Iterator[Believed]:
    if jwt.secret_file is not None:
        yield Believed(jwt.secret_file, "auth.jwt.secret_file", is_secret=True)
    for file in jwt.key_files:
        yield Believed(file, "auth.jwt.key_files")
    for key, public in (("jwks_file", jwt.jwks_file), ("jwks_ca", jwt.jwks_ca)):
        if public is not None:
            yield Believed(public, f"auth.jwt.{key}")


def _of_http_check(check: HttpCheckSection) -> Iterator[Believed]:
    if check.ca is not None:
        yield Believed(check.ca, "auth.http.ca")
    if check.authorization_file is not None:
        yield Believed(check.authorization_file, "auth.http.authorization_file", is_secret=True)


def _of_tls(table: ListenerConfig | HttpSection, name: str) -> Iterator[Believed]:
    if table.certificate is not None:
        # Where no key is named it lies in the same file.
        yield Believed(table.certificate, f"{name}.certificate", is_secret=table.key is None)
    if table.key is not None:
        yield Believed(table.key, f"{name}.key", is_secret=True)
    if table.client_ca is not None:
        yield Believed(table.client_ca, f"{name}.client_ca")
    for crl in table.crl:
        yield Believed(crl, f"{name}.crl")


def module_files(use: str) -> Iterator[Path]:
    """The files of ``package.module:ClassName`` and of the packages around it, compiled or not; none of them is run.

    Found as an import finds them, the working directory behind all else.
    """
    folders: list[str] | None = [*sys.path, os.getcwd()]
    name = ""
    for part in use.partition(":")[0].split("."):
        name = f"{name}.{part}" if name else part
        spec: ModuleSpec | None = PathFinder.find_spec(name, folders)
        if spec is None:
            return  # its import says so
        if spec.has_location and spec.origin is not None:
            yield Path(spec.origin)
            if spec.cached is not None:
                yield Path(spec.cached)  # what is compiled there is run in its place
        folders = list(spec.submodule_search_locations or ())
