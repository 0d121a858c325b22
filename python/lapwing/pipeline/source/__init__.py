"""A broker's stream as a Spark data source, ``format("lapwing")``.

Rules:

- ``address`` and ``client`` speak HTTP and know nothing of Spark; ``offsets`` are pure arithmetic on positions;
  ``datasource`` fits both to Spark's interface.
- A position names the stream's UUID: a stream that was deleted and made again is another stream, and a job that
  meets it stops.
- ``ReadAllAvailable`` means all; the target of ``AvailableNow`` is fixed once, before the first batch.
- Nothing is trimmed on ``commit``: Spark's lags by one batch and misses the last.
- How far a query is, its driver tells the broker (`named_reader`) as Spark asks for the next batch; its tasks do not.
- Errors cross Spark's worker and JVM as one marked line (`lapwing.pipeline.errors`), and come out as themselves.
"""
