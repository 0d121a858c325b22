"""Benchmarks: programs that print what they measured, with the ratio to a peer in the same run.

    make bench                         every figure (about half an hour on two cores)
    make bench BENCH="broker stream"   only these; BENCH=--list names them
    make bench BENCH="--quick"         short runs: shapes, not figures

Each module has `run(quick: bool) -> None` and prints its own tables. Nothing here is a test;
a missed target is printed as missed.
"""
