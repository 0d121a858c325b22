"""Commands to devices: decided in a batch, stored, published, followed up.

Rules of the room:

- What is decided is committed to ``outbox`` before anybody hears of it, once per batch; a restart publishes what is
  stored and computes nothing again.
- ``commands`` has one row per command with its state. It follows from ``outbox`` and the answers; between two commits
  the desk knows more than the table, and what is lost of that by a kill comes again: rows of ``outbox`` without a state
  are published again, answers are acknowledged to the broker only once they are in the table.
- Devices drop a command whose id they know. So each is executed at most once, and published at least once.
- How a command travels is not known here: ``Post`` is the seam (`lapwing.controller` has MQTT).
"""
