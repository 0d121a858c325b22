"""The Rust side, in types. Written by hand, compared with the module by a test."""

from typing import final

__version__: str

class CoreError(Exception):
    """An error of the Rust side.

    ``code`` is stable. Of a node: ``config``, ``address`` (not valid), ``address_in_use``, ``bind``, ``data_folder``
    (not writable, locked, of another format), ``data_corrupt``, ``data_full``, ``stream_settings``, ``store``,
    ``system``, ``defect``, ``drain_timeout``, ``state`` (not started, or started twice). Of reading a stream:
    ``stream_unknown``, ``partition_unknown``, ``offset_trimmed`` (evidence ``first_offset``, ``next_offset``),
    ``offset_ahead`` (evidence ``next_offset``), ``reader``, ``data_corrupt``, ``store``.
    """

    code: str
    message: str
    remedy: str
    evidence: dict[str, int]

@final
class Node:
    """A broker in this process: made from a configuration, started once, stopped once."""

    def __new__(cls, config_json: str) -> Node:
        """Reads and checks the configuration; opens nothing."""
    def start(self) -> None:
        """Opens the log and the listeners and starts the threads; ready on return."""
    def listeners(self) -> list[str]:
        """The addresses that clients connect to, with their real ports."""
    def ready(self) -> bool:
        """True while the node accepts connections and has not failed."""
    def check(self) -> None:
        """Raises the error that stopped the node by itself, if one did."""
    def metrics_text(self) -> str:
        """Counters in the text format of Prometheus."""
    def streams_json(self) -> str:
        """Every stream, as the body of ``GET /v1/streams``."""
    def take_notices(self) -> list[str]:
        """What the log has to tell an operator since the last call: recovery, alarms of retention."""
    def read_stream(
        self,
        name: str,
        partition: int,
        offset_from: int,
        messages_max: int,
        bytes_max: int,
        reader: str | None = None,
    ) -> tuple[bytes, int, int, int]:
        """Messages as an Arrow IPC stream: ``(ipc, first_offset kept, next_offset to ask for, end_offset)``."""
    def drain(self, timeout_s: float) -> None:
        """Stops accepting, lets clients go in order, commits what waits."""
    def stop(self) -> None:
        """Ends all threads and closes the log; does nothing when the node does not run."""
