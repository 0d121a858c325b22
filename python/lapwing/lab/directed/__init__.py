"""Devices that obey: they register, hear commands, and measure there and then with what they would have sent anyway.

- ``device``: one of them, as a pure machine: time and place in, answers and samples out.
- ``fleet``: many of them, each a client of its own that walks through the city, in real time.
- ``experiment``: the same fleet without and with a controller, and what became of the freshness of places.

A device has a budget: it never sends more in a run than it would without commands. So two runs with the same seed have
the same number of messages, and what differs is where and when.
"""
