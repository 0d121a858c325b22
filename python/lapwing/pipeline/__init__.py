"""From device messages to tables, with Apache Spark through PySpark.

Rules of the package:

- It imports `lapwing.contracts` and `lapwing.errors`, never the broker: Spark's workers need neither.
- ``source`` reads a broker's stream over HTTP (``spark.readStream.format("lapwing")``). ``transforms`` are pure
  functions ``DataFrame -> DataFrame``. ``sinks`` write Delta tables. ``jobs`` wire the three and are the only
  place that names paths. ``report`` draws.
- Per row: SQL and Arrow only. Python per key is for few keys.
- Every message is in the tables exactly once, wherever the job is killed: each table's commit carries, per stream
  partition, the offset up to which it is done (`sinks.positions`); ``seen`` is written last.
- ``local[N,4]``, never ``local[N]``: the latter gives a task one attempt.
- No watermark: device clocks may be months apart, and no reading is dropped for being late.

    spark = lapwing.pipeline.session(cores=2)
    rows = spark.readStream.format("lapwing").option("url", "http://host:8080/v1/streams/readings").load()
"""
