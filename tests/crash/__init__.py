"""Random work on a real broker that is killed, or loses its power, at random moments: is what was acknowledged there?

`python -m tests.crash --rounds 200 --seed 1`, or `make crash`. One seed is one plan (`plan`): settings of the broker,
clients of several kinds, and how many times it goes down. `publisher` and `subscribers` are the clients: each is a
`device` with a memory that outlives its connections; `books` writes down what was sent, acknowledged and delivered, and
says at the end what is not as it was promised; `round` lives one plan. Everything is in one thread: what the books call
earlier was earlier.

What is checked:

- a message that was acknowledged reaches every session that had its subscription before, every group, and the stream;
- QoS 2 reaches each session and each group once;
- per publisher, topic and QoS a session sees the messages in the order in which they were sent;
- a retained message is the last one acknowledged, or a later one that was not;
- offsets of a stream have no holes, and what was read once is there again;
- a session that was promised is there, one that ended is not.

`python -m tests.crash.matrix` is the fault matrix: each QoS through each fault of a disk or a process, on Lapwing and
on others.
"""

import sys
from pathlib import Path

TESTS = Path(__file__).parent.parent
# Raw bytes of MQTT are those of the broker's own tests; processes and HTTP those that all tests share.
sys.path[:0] = [str(TESTS / "broker"), str(TESTS)]
