"""Lapwing: a latency-sensitive MQTT broker with its data pipeline.

Rules of the package:

- Python owns what a user configures, extends, reads or runs; Rust (``lapwing._core``) owns what happens per
  message. No Python runs on a message's way through the broker.
- ``contracts`` knows nobody; ``pipeline`` never imports the broker. ``import-linter`` keeps both.
- ``import lapwing`` is cheap: names load when they are first used, so that a Spark worker that wants
  ``lapwing.contracts`` loads neither the broker nor its configuration.
- Whatever a user's input can bring about is a ``LapwingError`` (see ``lapwing.errors`` for the tree).

    with lapwing.Broker(listen=["tcp://127.0.0.1:0"]) as broker:
        print(broker.url)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lapwing.errors import LapwingError

if TYPE_CHECKING:
    from lapwing.broker import Broker
    from lapwing.client import Client, Consumer, Publisher
    from lapwing.hooks import Hooks
    from lapwing.strategy import Strategy

__version__ = "0.1.0"
__all__ = ["Broker", "Client", "Consumer", "Hooks", "LapwingError", "Publisher", "Strategy", "__version__"]

_LAZY = {
    "Broker": "lapwing.broker",
    "Client": "lapwing.client",
    "Consumer": "lapwing.client",
    "Hooks": "lapwing.hooks",
    "Publisher": "lapwing.client",
    "Strategy": "lapwing.strategy",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lapwing' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
