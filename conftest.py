"""What the tests of both `python` and `tests` have in common: how Hypothesis looks for examples."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How long an example takes says nothing here: other tests, and other work, share the machine.
settings.register_profile("lapwing", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lapwing")
