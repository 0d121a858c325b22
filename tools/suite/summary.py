"""What a run prints at its end: where the time went, who was flaky, who failed."""

from __future__ import annotations

from collections import Counter, defaultdict

from tools.suite.outcome import Outcome
from tools.suite.verdict import FLAKY_MAX, Verdict

GROUPS = 16
"""How many groups are named; the rest are one row."""


def table(outcomes: list[Outcome]) -> str:
    """Phases by the clock, then groups by the time that workers spent on them."""
    lines = [f"\n{'phase':<28}{'tests':>7}{'seconds':>9}"]
    lines += [f"{each.name:<28}{sum(each.tests.values()):>7}{each.seconds:>9.0f}" for each in outcomes]
    tests: Counter[str] = Counter()
    busy_s: defaultdict[str, float] = defaultdict(float)
    for outcome in outcomes:
        label = (lambda name: f"Rust: {name}") if outcome.name == "Rust" else str
        for name, count in outcome.tests.items():
            tests[label(name)] += count
            busy_s[label(name)] += outcome.busy_s[name]
    ranked = sorted(busy_s.items(), key=lambda item: -item[1])
    lines += [f"\n{'group':<28}{'tests':>7}{'worker s':>9}"]
    lines += [f"{name:<28}{tests[name]:>7}{took_s:>9.0f}" for name, took_s in ranked[:GROUPS]]
    if rest := ranked[GROUPS:]:
        total = (sum(tests[name] for name, _ in rest), sum(took_s for _, took_s in rest))
        lines.append(f"{f'{len(rest)} others':<28}{total[0]:>7}{total[1]:>9.0f}")
    slowest = sorted((entry for outcome in outcomes for entry in outcome.slowest), reverse=True)[:10]
    lines += ["\nslowest", *(f"{took_s:>7.0f} s  {name}" for took_s, name in slowest)]
    return "\n".join(lines)


def last_lines(outcomes: list[Outcome], verdict: Verdict) -> str:
    """One line for each thing that went wrong, and the count, as the last."""
    lines = [f"FLAKY {name}" for name in verdict.flaky]
    lines += [f"FAILED {name}" for name in verdict.failed]
    lines += [f"ERROR {reason}" for reason in verdict.broken]
    if len(verdict.flaky) > FLAKY_MAX:
        lines.append(f"ERROR more than {FLAKY_MAX} flaky tests")
    passed = sum(each.passed for each in outcomes) + len(verdict.flaky)
    skipped = sum(each.skipped for each in outcomes)
    failed = len(verdict.failed) + len(verdict.broken)
    lines.append(f"flaky: {len(verdict.flaky)}")
    lines.append(f"{passed} passed, {failed} failed, {skipped} skipped")
    return "\n".join(lines)
