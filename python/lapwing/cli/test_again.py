"""Do commands that watch a broker go on when it comes back, say so, and end where another try is worth nothing?"""

from __future__ import annotations

import itertools

import pytest

from lapwing.cli import again
from lapwing.cli.again import Again, watched
from lapwing.cli.http_api import HttpAnswerError
from lapwing.errors import LapwingError, SessionError


def _gone() -> LapwingError:
    error = SessionError("cannot connect")
    error.__cause__ = ConnectionRefusedError()
    return error


def _refused() -> LapwingError:
    error = SessionError("not yours")
    error.__cause__ = HttpAnswerError(403)
    return error


class _Broker:
    """Answers with a number each time, or raises what is in its place."""

    def __init__(self, *answers: int | LapwingError) -> None:
        self._answers = iter(answers)

    def ask(self) -> int:
        answer = next(self._answers)
        if isinstance(answer, LapwingError):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(again, "PAUSE_FIRST_S", 0.0)


def test_goes_on_when_it_is_back(capsys: pytest.CaptureFixture[str]) -> None:
    broker = _Broker(1, 2, _gone(), _gone(), 3, 4)
    assert list(itertools.islice(watched(broker.ask, 0.0, Again("the broker")), 4)) == [1, 2, 3, 4]
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[2].split(";")[0].strip() for line in told[:2]] == ["the broker: cannot connect"] * 2
    assert "the broker: connected again after" in told[2]
    assert len(told) == 3


def test_who_was_never_there_is_not_waited_for() -> None:
    with pytest.raises(SessionError, match="cannot connect"):
        next(watched(_Broker(_gone(), 1).ask, 0.0, Again("the broker")))


def test_what_is_refused_stays_refused() -> None:
    answers = watched(_Broker(1, _refused(), 2).ask, 0.0, Again("the broker"))
    assert next(answers) == 1
    with pytest.raises(SessionError, match="not yours"):
        next(answers)
