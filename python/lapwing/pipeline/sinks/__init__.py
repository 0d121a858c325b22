"""Where the pipeline's tables are written.

Rules:

- Each table's commit says up to which offset of each stream partition it is done, as Delta application transactions
  ``STREAM-UUID/PARTITION = next offset`` (`DeltaSink.positions`). delta-rs records transactions and does not enforce
  them: a job asks, and leaves out what the table already has. The offset is the truth whatever becomes of the
  checkpoint; a batch number of a checkpoint would not be.
- One writer per table: a job holds its folder's lock.
- Files are written by Spark's tasks, in parallel; the driver commits their names (`append`). Aggregates are few and
  go through the driver (`merge`).
- Rows of an aggregate lie by time in files of a bounded size (`layout`), and a change writes anew only those that have
  one of its rows (`rewrite`): what comes late leaves closed windows alone.
"""
