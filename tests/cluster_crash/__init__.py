"""The crash rounds of `tests.crash` on a cluster of three: is what was acknowledged there, whoever serves?

`python -m tests.cluster_crash --rounds 100 --seed 1`, or `make cluster-crash`. Clients, plans, books and what is
checked are those of `tests.crash`; there are no streams, which a cluster does not copy yet. What is other: the world
does not go down. `faults` draws what happens to which node; `cluster` has the three processes, does it and mends it;
`network` cuts them off from each other; `round` lets the clients go on meanwhile, on connections to whoever serves or
served, and waits until all three have everything.

Beside that: a node that no longer serves acknowledges nothing (`straggler`), and nobody does without a majority.
"""

import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
# As in `tests.crash`.
sys.path[:0] = [str(TESTS / "broker"), str(TESTS)]
