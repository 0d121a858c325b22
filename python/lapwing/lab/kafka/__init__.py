"""A real Kafka server on this machine, for tests and for the lab.

::

    with LocalKafka(Path("out/kafka")) as kafka:  # ready when the block begins, gone when it ends
        kafka.create_topic("readings", partitions=4)
        produce_to(kafka.bootstrap)  # "127.0.0.1:PORT", the same over restarts
        kafka.kill()  # SIGKILL, as a crash
        kafka.start()  # with what it has on disk
        kafka.pause()  # SIGSTOP: the port is open and nobody answers
        kafka.resume()

Rules:

- A node in KRaft mode, broker and controller in one JVM, on loopback only, with a small heap. It is alone, or has a
  `Seat` in a cluster of several.
- Its jars come from Maven by the ``pom.xml`` beside this file: ``make kafka-jars``, or ``fetch_jars()``.
- Everything it writes is in one folder: ``server.properties``, ``data/``, ``kafka.log``, ``storage-tool.log``.
- It is ready when it answers an admin client, never after a pause.
"""

from __future__ import annotations

from lapwing.lab.kafka.jars import fetch_jars, find_jars
from lapwing.lab.kafka.local_kafka import LocalKafka
from lapwing.lab.kafka.settings import Seat, new_cluster
from lapwing.lab.kafka.topics import create_topic

__all__ = ["LocalKafka", "Seat", "create_topic", "fetch_jars", "find_jars", "new_cluster"]
