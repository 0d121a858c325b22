"""``lapwing cluster demo``: three nodes of this machine, clients that keep books, and kills of the one that serves.

Rules of the room:

- Nodes are processes, made by the commands that a user gives: ``init``, ``token``, ``join``, ``broker``.
- Clients speak MQTT 5.0 over TCP, keep their sessions over connections, and know the addresses of all nodes: each is
  tried in turn until one serves. They live on one thread, away from who kills (`crowd`).
- ``packets``, ``sender``, ``receiver``, ``books`` and ``outage`` do no I/O and know no clock: bytes and times are
  arguments.
- What counts is what clients were told: *acknowledged* is what has a PUBACK or PUBREC, *delivered* what an application
  behind the subscriber would have been given. Nothing is asked of the brokers.
"""
