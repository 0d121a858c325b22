"""What answers to stream reads take up: counted until they are sent, refused while there is none to spare."""

from __future__ import annotations

from served_node import MadeAuthority, MadeNode, configured
from web import get

from lapwing.http import serve_http


class CountingNode(MadeNode):
    """One whose memory may be short."""

    def __init__(self) -> None:
        super().__init__(MadeAuthority(), "all")
        self.held: list[int] = []
        self.has_room = True

    def hold_reads(self, delta: int) -> bool:
        self.held.append(delta)
        return self.has_room


def test_reads_are_counted_and_refused() -> None:
    """Does a read give back what it took, and is one refused, and counted, while memory is above its mark?"""
    node = CountingNode()
    server = serve_http(node, MadeAuthority(), configured("127.0.0.1:0"))  # type: ignore[arg-type]
    try:
        url = f"{server.url}/v1/streams/all/0"
        body = get(url).content
        assert body == b"messages of all"
        assert max(node.held) == len(body)
        node.has_room = False
        refused = get(url)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json()["error"]["code"] == "memory_high"
        assert "lapwing_http_reads_refused_total 1\n" in get(f"{server.url}/metrics").text
    finally:
        server.stop()
    assert sum(node.held) == 0, "all was given back"
