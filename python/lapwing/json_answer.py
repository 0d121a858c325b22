"""Answers in JSON over HTTP, for whoever reads them at a terminal too."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from lapwing.text import json_text


class JsonAnswer(JSONResponse):
    """JSON in which nothing drives a terminal or turns a line around: clients, topics and groups have names of others.

    What has no shape of its own (C1, marks of direction, line separators) is escaped as JSON does it; a parser reads
    the same.

    Lists are written an item at a time: what writes JSON holds the interpreter's lock as long as it is called, in
    whichever thread.
    """

    def render(self, content: Any) -> bytes:
        """The body, in UTF-8."""
        if not isinstance(content, dict):
            return _written(content)
        return b"{%s}" % b",".join(_written(str(name)) + b":" + _member(value) for name, value in content.items())


def _member(value: Any) -> bytes:
    return b"[%s]" % b",".join(map(_written, value)) if isinstance(value, list) else _written(value)


def _written(value: Any) -> bytes:
    return json_text(value, compact=True).encode()
