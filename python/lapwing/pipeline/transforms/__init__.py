"""Pure functions from tables to tables, in Arrow.

Rules:

- They read no clock, no file and no setting; what they need is an argument. The order of rows never counts: a
  message's position is its ``partition`` and ``offset``.
- A device's rows have to be together, and no more than that: `lapwing.pipeline.jobs.digest` lets Spark bring them
  together (``repartition("who")``) and runs these functions in its tasks, so they see some devices whole.
- Every aggregate has three functions: a batch's part, rows of the table taken apart again into parts, and parts
  joined into rows. Parts can be joined in any order and grouping with the same result: sums are whole numbers.
- Why not Spark SQL: `docs/decisions/0014-transforms-are-arrow.md`; it took twenty times the processor time.
"""
