"""The audit trail, seen from Python: what a reload has changed, and whether a trail is whole.

Rules:
- The broker's own thread writes the trail (``crates/node/src/audit``); here is what only Python knows, handed to it as
  plain tables, and the check of its files, which needs no broker.
- Nothing here holds a password, a token or a hash of one longer than it takes to see whether it is another one.
"""
