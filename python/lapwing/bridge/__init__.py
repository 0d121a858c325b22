"""The bridge between a broker and Apache Kafka: ``lapwing bridge run``.

Rules:

- A *lane* carries the messages of one rule for one member: its own connection to the broker, its own Kafka client, one
  thread. So a rule that has to wait (its topic is missing, say) keeps nobody else waiting.
- One batch at a time: taken from the broker, handed to Kafka, confirmed there, acknowledged to the broker. What comes
  meanwhile waits in the broker; nothing here grows.
- ``mapping`` and ``verdict`` decide and are pure; ``sink`` and the lanes act.
- What Kafka cannot take now waits. What it can never take goes to the dead-letter topic under a named reason.
  Nothing is dropped.
- A lane waits for the broker, for Kafka, or for a pause that is over; it never sleeps and looks again.
- Secrets come from files and the environment, and stand in no error, log or metric.
- It imports ``client``, ``config`` and ``contracts``, never the broker.
"""
