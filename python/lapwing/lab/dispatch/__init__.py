"""The dispatch experiment: one group, one trace, every policy, on real processes.

Rules of the room:

- A ``Trace`` is a whole day, fixed before it begins and written to files: who is how fast and how far when, which
  message comes when and how much work it is. Every policy, and every other broker, gets the same one.
- A member of the group is a process of its own and a standard client: it takes a PUBLISH, works as long as its day
  says, acknowledges. It neither knows nor helps the policy, apart from what it declares in its CONNECT.
- Work is time that passes, not processor time: twenty members on two cores do not disturb each other.
- Distance is a link (``tun``) that holds packets back, both ways, below the kernel's TCP: what the broker's kernel
  measures is then true. Where the machine has no such device, a proxy holds bytes back (``proxy``), and the broker is
  told by the PROXY header that its kernel sees only the near leg. Never is the delay in the consumer.
- One clock: ``CLOCK_MONOTONIC`` of this machine stamps sending, arrival and the end of the handler. Latency counts
  from the instant at which the trace has a message due, so what holds the publisher back is latency, too. What the
  members, the link and the publisher are late themselves is measured and printed beside the result.
- ``member``, ``publisher``, ``tun_link`` and ``proxy`` run as processes and import nothing but the standard library:
  they start in milliseconds and cost little. ``session`` starts them, ``experiment`` decides what runs when.
- A policy that the broker does not know is an error; nothing is printed that was not measured.
"""
