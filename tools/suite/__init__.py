"""Runs the tests of both languages, as `make test` and CI do, and says what they cost.

Rules of this package:

- Two phases. First what needs a JVM (marker ``jvm``), with few workers; then what mostly waits, with many, and the
  tests of the Rust rooms beside it. So nothing with a limit of time ever runs beside a JVM.
- A test that fails is run again, alone, once, when all others are done. When it passes then it is *flaky*: it is named
  on a line of its own, ``FLAKY name``, and the run passes. More than `verdict.FLAKY_MAX` of them, or one that fails
  again, fails the run. A flaky test is a defect with an owner, not weather.
- What a test is (its folder, its markers) is decided in the tests' own ``conftest.py``; here is only how they are run.
"""
