"""Is a query begun again after what passes, not for ever, and after nothing else?"""

from __future__ import annotations

import pytest

from lapwing.pipeline.jobs.patience import TRIES, Patience

PASSES = RuntimeError("[STREAM_FAILED] Query terminated: Python worker failed to connect back. SQLSTATE: XXKST")


def test_what_passes_is_borne_so_often_and_again_after_a_batch(caplog: pytest.LogCaptureFixture) -> None:
    patience = Patience("here")
    assert [patience.allows(PASSES) for _ in range(TRIES + 1)] == [True] * TRIES + [False]
    assert [record.getMessage() for record in caplog.records] == [
        "here: the query begins again, as Spark says: Python worker failed to connect back"
    ] * TRIES
    patience.renew()
    assert patience.allows(PASSES)


@pytest.mark.parametrize("failure", [None, RuntimeError("no such table"), RuntimeError("Python worker exited")])
def test_nothing_else_is(failure: Exception | None) -> None:
    assert not Patience("here").allows(failure)
