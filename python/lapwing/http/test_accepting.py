"""Is a connection that the kernel cannot give counted and told once, and other trouble of the loop left as it is?"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from typing import Any

import pytest
import uvicorn

from lapwing.http.accepting import AcceptingServer
from lapwing.http.counters import HttpCounters


def test_what_asyncio_says(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    counters = HttpCounters()
    full = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    said = [{"message": "socket.accept() out of system resource", "exception": full}] * 2
    said.append({"message": "something else", "exception": OSError("gone")})

    async def in_its_place(_self: uvicorn.Server, _sockets: Any) -> None:
        for context in said:
            asyncio.get_running_loop().call_exception_handler(context)

    monkeypatch.setattr(uvicorn.Server, "serve", in_its_place)
    with caplog.at_level(logging.WARNING):
        asyncio.run(AcceptingServer(uvicorn.Config("no:app"), counters).serve())
    assert "\nlapwing_http_accept_failures_total 2\n" in counters.text()
    told = [record.getMessage() for record in caplog.records]
    assert told[0] == "HTTP cannot accept a connection: Too many open files; those that wait are accepted when it can"
    assert len(told) == 2
    assert told[1].startswith("something else")
