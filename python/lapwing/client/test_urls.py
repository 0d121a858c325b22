"""What does each client say of a URL that it cannot use?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lapwing.client import AsyncConsumer, AsyncPublisher, AsyncRequester, Client, Consumer, Publisher, Requester
from lapwing.errors import ConfigError

KINDS = [Client, Consumer, Publisher, Requester, AsyncConsumer, AsyncPublisher, AsyncRequester]


def _made(kind: Any, url: str, **options: Any) -> Any:
    return kind(url, "t", **options) if kind in (Consumer, AsyncConsumer) else kind(url, **options)


def _opened(kind: Any, url: str) -> None:
    client = _made(kind, url)
    if not hasattr(kind, "__aenter__"):
        client.connect()
        return

    async def enter() -> None:
        async with client:
            pass

    asyncio.run(enter())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("url", ["tls://me:horse@h:1", "me:ho/rse@h"])
def test_a_password_in_a_url_is_not_shown(kind: Any, url: str) -> None:
    with pytest.raises(ConfigError, match=r"\*\*\*@h") as failure:
        _opened(kind, url)
    assert "rse" not in str(failure.value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", ["ca", "certificate", "key"])
def test_files_for_tls_go_with_a_url_that_has_it(kind: Any, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name} is for TLS, and tcp:// has none"):
        _made(kind, "tcp://h:1", **{name: "x.pem"})
    _made(kind, "tls://h:1", **{name: "x.pem"})
    _made(kind, "tcp://h:1", **{name: None})
