"""The record schemas of Lapwing, each written once.

Rules of the package:

- A record is a table of `Field` rows (`fields.py`): name, kind, unit, range, nullability, meaning. The Arrow
  schema, Spark's ``StructType`` and the JSON Schema are rendered from that one table, never written by hand.
- ``envelope``: a message as the broker's stream, Kafka and files deliver it.
  ``reading``: what a device says in a payload. ``rules``: what breaks that contract, as named reasons.
  ``clocks``: the five clocks and the routes between them. ``tables``: what the pipeline writes.
- Every record has a version. A field is added as nullable within a version; anything else makes a new one.
- Contracts know nobody: they import neither the broker nor the pipeline, and PySpark only when a Spark
  schema is asked for, so that a device simulator can use them without a JVM.
"""
