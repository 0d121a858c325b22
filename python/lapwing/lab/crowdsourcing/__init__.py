"""The crowdsourcing experiment: one fleet of phones, several architectures, more and more phones until something gives.

Rules of the room:

- An architecture is a declaration: a tuple of parts in the order in which they start (``architecture``). A part is a
  process with a command line, a readiness check and a log (``part``, ``declared``); nothing else knows what it is.
- Every point (architecture, QoS, number of phones, seed) has processes, ports and a folder of its own. They are
  watched (``watch``): one that ends by itself ends the point, with a reason and the tail of its log.
- The fleet's readings are made before a point begins (``prepared``) and go by a schedule, whatever the others do. A
  point at which the generator itself was late is thrown away, and said (``schedule``).
- Loss has a place and a reason, told by whoever lost it, never reckoned as what is left over: what nobody accounts for
  is a figure of its own, and has to be 0 (``balance``).
- Times are per reading, from the clocks that the reading carries (``clocks``); percentiles are exact.
- ``balance``, ``clocks``, ``knee``, ``schedule`` and ``coverage`` are pure; ``point`` and ``experiment`` act.
- ``generator`` and ``controller`` run as processes: ``python -m lapwing.lab.crowdsourcing.NAME ORDER``.
"""
