"""Do the package's readers read from lapwingd what was published to it: `lapwing stream`, and what Spark reads with?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from commands import call, rows
from daemon import Daemon

from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient

Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]
CONFIGURATION = """[broker]
listen = "tcp://127.0.0.1:0"
http = "127.0.0.1:0"
data = "data"
drain = "0s"
shards = 1
pin = false

[streams.all]
filter = "#"
"""


def test_what_was_published_is_read(program: Path, publish: Publish, tmp_path: Path) -> None:
    (tmp_path / "lapwing.toml").write_text(CONFIGURATION)
    with Daemon(program, tmp_path) as daemon:
        publish(daemon.url, [("a/1", b"one"), ("a/2", b"\xff\x00"), ("a/3", "dréi".encode())])
        assert [row["name"] for row in rows(call("stream", "list", "--json", "--url", daemon.http_url))] == ["all"]
        text = call("stream", "read", "all", "0", "--url", daemon.http_url, "--reader", "spark").stdout
        assert text.splitlines() == ["0 a/1 one", "1 a/2 \\xff\\x00", "2 a/3 dréi"]
        assert "spark" in call("stream", "info", "all", "--url", daemon.http_url).stdout
        with StreamClient(StreamAddress.parse(f"{daemon.http_url}/v1/streams/all")) as client:
            state = client.state()
            read = [client.read(0, offset, rows_max=1, bytes_max=1 << 20) for offset in range(4)]
            client.tell("query", 0, 2)
            client.tell("spark", 0, 3)
        assert [sum(batch.num_rows for batch in one.batches) for one in read] == [1, 1, 1, 0]
        assert {one.uuid for one in read} == {state.uuid}
        (info,) = rows(call("stream", "info", "all", "--json", "--url", daemon.http_url))
        places = {reader["name"]: reader["partitions"] for reader in info["readers"]}
        assert places == {name: [{"partition": 0, "next_offset": at}] for name, at in (("query", 2), ("spark", 3))}
        assert call("stream", "forget", "all", "spark", "--url", daemon.http_url).returncode == 0
