"""The broker's HTTP side: streams as Arrow IPC, health, metrics. Never on a message's path.

- Starlette and uvicorn in a thread of the broker's process; what reads a disk, or verifies a password, goes to a pool
  of threads and runs in Rust without the interpreter lock.
- The identities are MQTT's: a user with a password (Basic), a token of a user's or a JWT (Bearer), whoever the check
  over HTTP knows (Basic), decided by the node in the same turns; and the same rules. ``/healthz`` and
  ``/readyz`` are open; every other path passes the gate. Whoever may not read a stream does not learn that it exists.
- Rights stand in rules: without them a user has none here. Without users, HTTP takes whom MQTT takes; where that is
  guarded by what HTTP cannot ask (hooks, certificates), it serves health and figures (``lapwing.http.caller``).
- No page of the web gets in (``lapwing.same_origin``), at any path.
- Beyond loopback only with users and TLS (the configuration refuses anything else).
- Everything has a limit: connections and handshakes (a flood displaces itself, and health has places of its own), reads
  at a time, bytes of a request's head and body, the time a slow reader may take, failed attempts. What is refused is
  counted in ``/metrics``.
- Errors are JSON: ``{"error": {"code", "message", "remedy", ...evidence}}``. No secret is in one, nor in a log.
"""

from lapwing.http.app import make_app
from lapwing.http.authority import Authority
from lapwing.http.counters import HttpCounters
from lapwing.http.server import HttpServer, bind_http, serve_http

__all__ = ["Authority", "HttpCounters", "HttpServer", "bind_http", "make_app", "serve_http"]
