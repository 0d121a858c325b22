"""The few requests that ``lapwing groups`` makes to a broker's HTTP side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from lapwing.cli.http_api import HttpApi
from lapwing.credentials import Credentials
from lapwing.errors import ConfigError, GroupError, LapwingError
from lapwing.https import NO_FILES, TlsFiles


class GroupUnknownError(GroupError):
    """No group and no table of that name."""


class GroupChangedError(GroupError):
    """The settings are not what they were: somebody else has changed them meanwhile."""


_KINDS: dict[str, type[LapwingError]] = {
    "group_unknown": GroupUnknownError,
    "group_changed": GroupChangedError,
    "group_settings": ConfigError,
    "config": ConfigError,
}


class GroupApi:
    """One broker's consumer groups over one kept connection; see ``HttpApi``."""

    def __init__(self, url: str, credentials: Credentials | None = None, tls: TlsFiles = NO_FILES) -> None:
        self._api = HttpApi(url, credentials, tls, kinds=_KINDS, other=GroupError)

    def groups(self) -> list[dict[str, Any]]:
        """Every group as it is now, page by page."""
        page = self._get("/v1/groups?limit=1000")
        groups: list[dict[str, Any]] = page["groups"]
        while page["next"] is not None:
            page = self._get(f"/v1/groups?limit=1000&after={quote(page['next'], safe='')}")
            groups += page["groups"]
        return groups

    def group(self, name: str) -> dict[str, Any]:
        """``name``, ``settings`` (None: none of its own), ``groups``: those of the name, one a filter.

        Raises:
            GroupUnknownError: neither is there; the message names those there are.
        """
        return self._get(_path(name))

    def change(self, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        """Changes the table of a name or pattern, and nothing that somebody else has changed meanwhile.

        Args:
            name: Share name or pattern.
            change: Makes the new table of what is in force.

        Returns:
            What is in force then.

        Raises:
            GroupUnknownError: there is no such table.
            GroupChangedError: it was changed meanwhile.
            ConfigError: a key or value is wrong; every one is named.
        """
        headers, body = self._api.request("GET", _path(name))
        settings = json.loads(body)["settings"]
        if settings is None:
            raise GroupUnknownError(f"there are no settings for {name!r}")
        tag = headers["ETag"]
        return self.put(name, change(settings), {} if tag is None else {"If-Match": tag})

    def add(self, name: str, table: Mapping[str, object]) -> dict[str, Any]:
        """Adds the table of a name or pattern; what is in force then.

        Raises:
            GroupChangedError: there is one already.
            ConfigError: a key or value is wrong; every one is named.
        """
        return self.put(name, table, {"If-None-Match": "*"})

    def put(self, name: str, table: Mapping[str, object], condition: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Replaces the table of a name or pattern, where the condition holds; what is in force then.

        Raises:
            GroupChangedError: it does not hold.
            ConfigError: a key or value is wrong; every one is named.
        """
        _, body = self._api.request("PUT", _path(name), dict(table), condition)
        settings: dict[str, Any] = json.loads(body)["settings"]
        return settings

    def remove(self, name: str) -> None:
        """Takes the table away; groups that it declared end when nobody is in them.

        Raises:
            GroupUnknownError: there is neither a group nor a table of that name.
            GroupError: there is a group, and no table.
        """
        self._api.request("DELETE", _path(name))

    def _get(self, path: str) -> dict[str, Any]:
        _, body = self._api.request("GET", path)
        document: dict[str, Any] = json.loads(body)
        return document


def _path(name: str) -> str:
    return f"/v1/groups/{quote(name, safe='')}"
