"""Pure functions ``DataFrame -> DataFrame``, and the Arrow functions that they apply to batches.

They read no clock, no file and no session setting; what they need is an argument. The order of rows never counts:
a message's position is its ``partition`` and ``offset``.
"""
