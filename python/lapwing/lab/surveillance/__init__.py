"""A scene from end to end: sensors raise detections, a group of analysers confirms them, a guard hears the alarm.

Rules of the room:

- Everybody is a process and a client as an application would write it: the gateway of the sensors a ``Publisher``, an
  analyser a ``Consumer`` with a ``Publisher`` for its alarms, the guard a plain ``Client``.
- The day, the links, the processes and the statistics are those of the dispatch experiment (``lapwing.lab.dispatch``):
  what differs is what is measured, from the sensor to the guard.
- What an image shows is decided by the seed, not by the analyser: which detections become alarms is the same whatever
  the policy, and whoever looks.
- Times are of one monotonic clock; nothing is printed that was not measured.
"""
