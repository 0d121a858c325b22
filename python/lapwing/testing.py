"""The pytest fixture ``lapwing_broker``: a fresh broker for each test that names it. Loaded by pytest itself.

    def test_it(lapwing_broker):
        client.connect(lapwing_broker.url)

Settings go into a marker: ``@pytest.mark.lapwing(streams={"all": "#"}, http="127.0.0.1:0")`` takes
the arguments of ``lapwing.Broker``. The broker listens on a port of its own on loopback, keeps its log in a
temporary folder, uses two data threads that are not pinned, and is stopped and deleted after the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lapwing.broker import Broker


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known to ``--strict-markers``."""
    config.addinivalue_line("markers", "lapwing(**settings): arguments of lapwing.Broker for lapwing_broker")


@pytest.fixture
def lapwing_broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """A running broker; see the module for its settings."""
    # Imported here: the plugin is loaded in every pytest run of an environment that has Lapwing installed.
    from lapwing import Broker

    marker = request.node.get_closest_marker("lapwing")
    settings = {"shards": 2, **(marker.kwargs if marker else {})}
    with Broker(**settings) as broker:
        yield broker
