"""Entity tags (RFC 9110, 8.8.3 and 13.1): who changes what somebody else has changed meanwhile is told so."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from lapwing.http_listener.http_error import HttpError

_TAG = re.compile(r'(?:W/)?"[^"]*"')


def tag_of(settings: Mapping[str, object] | None) -> dict[str, str]:
    """The header ``ETag`` of settings as they are written; none where there are none."""
    return {} if settings is None else {"ETag": _tag(settings)}


def check_conditions(headers: Mapping[str, str], settings: Mapping[str, object] | None) -> None:
    """Whether ``If-Match`` and ``If-None-Match`` hold for what is in force (None: nothing is).

    Raises:
        HttpError: 412: what is there is not what the caller knows.
    """
    wanted, unwanted = headers.get("if-match"), headers.get("if-none-match")
    if wanted is not None and not _matches(wanted, settings):
        what = "these are not the settings that If-Match names" if settings else "there are no settings of this name"
        raise _changed(what)
    if unwanted is not None and _matches(unwanted, settings):
        raise _changed("there are settings of this name already")


def _matches(condition: str, settings: Mapping[str, object] | None) -> bool:
    if settings is None:
        return False
    return condition.strip() == "*" or _tag(settings) in _TAG.findall(condition)


def _tag(settings: Mapping[str, object]) -> str:
    """Strong: the same settings have the same tag, after a restart too."""
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def _changed(what: str) -> HttpError:
    return HttpError(412, "group_changed", what, "GET them again, and decide anew")
