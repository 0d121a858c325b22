"""A list of sessions or queues, printed: a page, or page after page; and one of them, with what waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer

from lapwing.cli.common import echo_json
from lapwing.cli.session_api import SessionApi
from lapwing.cli.session_options import Measure, State
from lapwing.cli.sessions_table import messages_table
from lapwing.errors import ConfigError
from lapwing.text import shell_word

Rows = list[dict[str, Any]]


class Listing:
    """What is to be listed.

    Args:
        api: The broker.
        kind: ``"sessions"`` or ``"queues"``.
        prefix: Client ids that begin so.
        state: Only those with a connection, or without one.
        longest: The longest queues first, in place of an order by client id.
        after: Go on behind this client id.

    Raises:
        ConfigError: ``longest`` and ``after`` are given together.
    """

    def __init__(
        self,
        api: SessionApi,
        kind: str,
        *,
        prefix: str,
        state: State | None,
        longest: Measure | None,
        after: str | None,
    ) -> None:
        if longest is not None and after is not None:
            raise ConfigError(
                "--longest and --after are given together", remedy="pages are by client id: leave one of them out"
            )
        self._api, self._kind = api, kind
        given = {"prefix": prefix or None, "state": state, "longest": longest, "after": after}
        self._query: dict[str, str | int] = {name: str(value) for name, value in given.items() if value is not None}

    def show(self, draw: Callable[[Rows], str], *, limit: int, every: bool, json: bool) -> None:
        """Prints it: JSON a row and line, or as ``draw`` draws a page.

        Raises:
            ConfigError: every one is wanted, and the longest first.
        """
        if not every:
            self._print(self._api.page(self._kind, {**self._query, "limit": limit}), draw, json=json)
            return
        if "longest" in self._query:
            raise ConfigError(
                "--all and --longest are given together", remedy="pages are by client id: leave one of them out"
            )
        for page in self._api.pages(self._kind, self._query):
            self._print(page, draw, json=json, is_last=False)

    def _print(self, page: dict[str, Any], draw: Callable[[Rows], str], *, json: bool, is_last: bool = True) -> None:
        rows: Rows = page[self._kind]
        if json:
            for row in rows:
                echo_json(row)
            return
        if rows:
            typer.echo(draw(rows))
        if is_last:
            typer.echo(_end(page, len(rows), self._kind), err=True)


def _end(page: dict[str, Any], shown: int, kind: str) -> str:
    waiting = f"{page['waiting_messages']:,} messages wait, {page['waiting_bytes']:,} bytes"
    line = f"{shown:,} of {page['matching']:,} {kind}; {waiting}"
    return f"{line}; go on with --after {shell_word(page['next'])}" if page["next"] is not None else line


def show_one(session: Mapping[str, Any], draw: Callable[[], list[str]], *, json: bool) -> None:
    """Prints one session or queue: as JSON, or the tables that ``draw`` gives and what has waited longest."""
    if json:
        echo_json(session)
        return
    waiting = [messages_table(session["queue"])] if session["queue"] else []
    typer.echo("\n\n".join([*draw(), *waiting]))
