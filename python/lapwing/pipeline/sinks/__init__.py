"""Where the pipeline's tables are written.

Rules:

- Each table's commit says up to which offset of each stream partition it is done, as Delta application transactions
  ``STREAM-UUID/PARTITION = next offset`` (`positions`). delta-rs records transactions and does not enforce them: a
  job asks `DeltaTable.positions` and leaves out what the table already has. The offset is the truth whatever becomes
  of the checkpoint; a batch number of a checkpoint would not be.
- One writer per table: a job holds its folder's lock.
- Rows are written by Spark's tasks, in parallel; the driver commits file names (`append`). Aggregates are few and go
  through the driver (`merge`).
"""
