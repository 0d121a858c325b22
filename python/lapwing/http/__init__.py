"""The broker's HTTP side: streams as Arrow IPC, health, metrics. Never on a message's path.

- Starlette and uvicorn in a thread of the broker's process; what reads a disk goes to a pool of threads and
  runs in Rust without the interpreter lock.
- Loopback only until there are identities (the configuration refuses other addresses).
- Everything has a limit: connections, reads at a time, bytes of a request's head and body, the time a slow
  reader may take. What is refused is counted in ``/metrics``.
- Errors are JSON: ``{"error": {"code", "message", "remedy", ...evidence}}``.
"""

from lapwing.http.app import make_app
from lapwing.http.counters import HttpCounters
from lapwing.http.server import HttpServer

__all__ = ["HttpCounters", "HttpServer", "make_app"]
