"""The few requests that ``lapwing groups`` makes to a broker's HTTP side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lapwing.cli.http_api import HttpApi
from lapwing.credentials import Credentials
from lapwing.errors import ConfigError, GroupError, LapwingError


class GroupUnknownError(GroupError):
    """No group and no table of that name."""


_KINDS: dict[str, type[LapwingError]] = {
    "group_unknown": GroupUnknownError,
    "group_settings": ConfigError,
    "config": ConfigError,
}


class GroupApi:
    """One broker's consumer groups over one kept connection; see ``HttpApi``."""

    def __init__(self, url: str, credentials: Credentials | None = None, ca: str = "") -> None:
        self._api = HttpApi(url, credentials, ca, kinds=_KINDS, other=GroupError)

    def groups(self) -> list[dict[str, Any]]:
        """Every group as it is now."""
        groups: list[dict[str, Any]] = self._get("/v1/groups")["groups"]
        return groups

    def group(self, name: str) -> dict[str, Any]:
        """``name``, ``settings`` (None: none of its own), ``groups``: those of the name, one a filter.

        Raises:
            GroupUnknownError: neither is there; the message names those there are.
        """
        return self._get(_path(name))

    def settings(self, name: str) -> dict[str, Any] | None:
        """The table under exactly this name or pattern; None: there is none."""
        try:
            settings: dict[str, Any] | None = self.group(name)["settings"]
        except GroupUnknownError:
            return None
        return settings

    def put(self, name: str, table: Mapping[str, object]) -> dict[str, Any]:
        """Replaces the table of a name or pattern; what is in force then.

        Raises:
            ConfigError: a key or value is wrong; every one is named.
        """
        _, body = self._api.request("PUT", _path(name), dict(table))
        settings: dict[str, Any] = json.loads(body)["settings"]
        return settings

    def remove(self, name: str) -> None:
        """Takes the table away; groups that it declared end.

        Raises:
            GroupUnknownError: there is no such table.
        """
        self._api.request("DELETE", _path(name))

    def _get(self, path: str) -> dict[str, Any]:
        _, body = self._api.request("GET", path)
        document: dict[str, Any] = json.loads(body)
        return document


def _path(name: str) -> str:
    return f"/v1/groups/{quote(name, safe='')}"
