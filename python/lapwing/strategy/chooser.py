"""Between Rust's rows and ``Strategy.choose``: one call of ``answer`` per batch, on the strategy's thread only.

A row has the fields of an ``Ask``; an answer is the place of a member in it, ``WAIT`` or ``FAILED``. Whatever a
strategy raises concerns the whole batch, an answer that names nobody only its own message; both are logged here
(``lapwing.strategy``, at most once a second).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from typing import Any

from lapwing.errors import ConfigError
from lapwing.strategy.asks import Ask, Member
from lapwing.strategy.base import Strategy

WAIT = -1
FAILED = -2
_LOG = logging.getLogger("lapwing.strategy")
_LOG_EVERY_S = 1.0


class Chooser:
    """What ``lapwing._core`` is given for a strategy.

    Raises:
        ConfigError: it is no ``Strategy``.
    """

    member = Member

    def __init__(self, strategy: Strategy) -> None:
        if not isinstance(strategy, Strategy):
            kind = type(strategy)
            where = f"{kind.__module__}.{kind.__qualname__}"
            raise ConfigError("it is no lapwing.Strategy", where=where, remedy="derive its class from lapwing.Strategy")
        self._strategy = strategy
        self._logged_at_s = -_LOG_EVERY_S
        self._unlogged = 0

    def answer(self, rows: Iterable[tuple[Any, ...]]) -> list[int]:
        """One number per row, in order."""
        asks = [Ask(*row) for row in rows]
        try:
            answers = self._strategy.choose(asks)
            if len(answers) != len(asks):
                raise ValueError(f"{len(answers)} answers to {len(asks)} asks; return one for each, None for nobody")
        except BaseException as error:
            self._failed(error)
            return [FAILED] * len(asks)
        return self._places(asks, answers)

    def _places(self, asks: Sequence[Ask], answers: Sequence[Member | str | None]) -> list[int]:
        places: list[int] = []
        # Messages asked about at once share one tuple of members.
        shown: tuple[Member, ...] | None = None
        by_name: dict[str | int, int] = {}
        for ask, answer in zip(asks, answers, strict=True):
            if ask.members is not shown:
                shown = ask.members
                by_name = {name: at for at, one in enumerate(shown) for name in (one.client_id, one.identity)}
            places.append(WAIT if answer is None else self._place(ask, answer, by_name))
        return places

    def _place(self, ask: Ask, answer: object, by_name: dict[str | int, int]) -> int:
        name = answer.identity if isinstance(answer, Member) else answer if isinstance(answer, str) else None
        place = None if name is None or name == "" else by_name.get(name)
        if place is None:
            self._failed(LookupError(f"{answer!r} is no member of {ask.group}; name one of ask.members, or None"))
            return FAILED
        return place

    def _failed(self, error: BaseException) -> None:
        now_s = time.monotonic()
        if now_s - self._logged_at_s < _LOG_EVERY_S:
            self._unlogged += 1
            return
        more = f" (and {self._unlogged} times more before)" if self._unlogged else ""
        self._logged_at_s, self._unlogged = now_s, 0
        _LOG.error("%s failed%s", type(self._strategy).__qualname__, more, exc_info=error)
