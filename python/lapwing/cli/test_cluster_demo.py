"""Does `lapwing cluster demo` end as its books say?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lapwing.cli.app import run
from lapwing.errors import BrokerError
from lapwing.lab.cluster_demo import run as demo
from lapwing.lab.cluster_demo.books import Books
from lapwing.lab.cluster_demo.outage import Outage
from lapwing.lab.cluster_demo.summary import Summary


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are kept lie where tests leave nothing."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def ended(*, times: int) -> Summary:
    """One message of QoS 2 that was acknowledged and came so often."""
    books = Books([1, 2])
    payload = books.publish(1)
    books.acknowledge(payload)
    for _ in range(times):
        books.deliver(payload, 1)
    return Summary(4, 1.0, [Outage("n1", 100.0, "n2", 2.0, 2.5, 3.0, 4.25)], books.verdict())


@pytest.mark.parametrize(
    ("times", "code", "verdict"),
    [
        (1, 0, "1 delivered: 0 lost, 0 twice"),
        (0, 1, "0 delivered: 1 lost, 0 twice"),
        (2, 1, "1 delivered: 0 lost, 1 twice"),
    ],
)
def test_the_verdict(
    times: int, code: int, verdict: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In words and as JSON, by the exit code, and by whether the nodes' folder is kept."""
    found: list[Path] = []

    def plant(_plan: demo.Plan, folder: Path, _screen: object) -> Summary:
        found.append(folder)
        return ended(times=times)

    monkeypatch.setattr(demo, "run_demo", plant)
    assert run(["cluster", "demo"]) == code
    said, errors = capsys.readouterr()
    assert said.splitlines()[-1] == f"1 acknowledged, {verdict}"
    assert "n1      n2           2.00 s" in said
    assert found[0].exists() == (str(found[0]) in errors) == (code == 1)
    assert run(["cluster", "demo", "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert (told["acknowledged"], told["delivered"]) == (1, min(times, 1))
    assert told["outages"][0] == {
        "killed": "n1",
        "successor": "n2",
        "connack_s": 2.0,
        "acknowledged_s": 2.5,
        "all_back_s": 3.0,
        "caught_up_s": 4.25,
    }


def test_a_node_that_ends(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Says where its words are."""

    def plant(_plan: demo.Plan, folder: Path, _screen: object) -> Summary:
        raise BrokerError("n2 ended with code 1", where=str(folder / "n2.log"))

    monkeypatch.setattr(demo, "run_demo", plant)
    assert run(["cluster", "demo"]) == 1
    notice, error = capsys.readouterr().err.splitlines()
    folder = Path(notice.rpartition(" ")[2])
    assert folder.exists()
    assert str(folder / "n2.log") in error
