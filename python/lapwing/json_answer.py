"""Answers in JSON over HTTP, for whoever reads them at a terminal too."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from lapwing.text import json_text


class JsonAnswer(JSONResponse):
    """JSON in which nothing drives a terminal or turns a line around: clients, topics and groups have names of others.

    What has no shape of its own (C1, marks of direction, line separators) is escaped as JSON does it; a parser reads
    the same.
    """

    def render(self, content: Any) -> bytes:
        """The body, in UTF-8."""
        return json_text(content, compact=True).encode()
