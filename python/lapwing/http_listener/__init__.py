"""What each HTTP listener of ours, the broker's and the bridge's, holds its connections to: places, clocks, a pace.

- A connection needs one of the ``places``; who asks for nothing, or takes no answer, gives way (``connections``).
- Addresses are those of a ``peer`` as it was accepted; IPv4 is IPv4 on a listener for both.
- ``/healthz`` and ``/readyz`` have places of their own (``kept_places``).
- Whatever is refused is an ``http_error``.
"""
