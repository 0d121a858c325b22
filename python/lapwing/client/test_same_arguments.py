"""Does each class for asyncio take what the one for threads takes, as docs/client.md says?"""

from __future__ import annotations

import inspect

import pytest

from lapwing.client import AsyncConsumer, AsyncPublisher, AsyncRequester, Consumer, Publisher, Requester


@pytest.mark.parametrize(
    ("of_threads", "of_tasks"),
    [(Consumer, AsyncConsumer), (Publisher, AsyncPublisher), (Requester, AsyncRequester)],
    ids=lambda kind: kind.__name__,
)
def test_both_take_the_same(of_threads: type, of_tasks: type) -> None:
    one, other = (inspect.signature(kind).parameters for kind in (of_threads, of_tasks))
    assert list(one.values()) == list(other.values())
