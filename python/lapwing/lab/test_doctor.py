"""Does the doctor say what is missing for whom, and what to do about it?"""

from __future__ import annotations

from lapwing.lab.doctor import NEEDS, Facts, judged

HEALTHY = Facts(files_max=20_000, cores=2, memory_mib=16_000, problems={})


def test_all_is_well() -> None:
    findings = judged(HEALTHY, list(NEEDS))
    assert {finding.state for finding in findings} == {"ok"}
    assert not any(finding.remedy for finding in findings)


def test_only_what_is_asked_for_is_looked_at() -> None:
    assert "kafka-jars" not in {finding.need for finding in judged(HEALTHY, ["a1"])}


def test_what_is_missing_names_its_remedy_and_who_needs_it() -> None:
    facts = Facts(20_000, 2, 16_000, {"kafka-jars": ("the jars are not here", "run make kafka-jars")})
    (finding,) = [one for one in judged(facts, ["a1", "a3-single"]) if one.state != "ok"]
    assert (finding.need, finding.state, finding.needed_by) == ("kafka-jars", "missing", ("a3-single",))
    assert finding.remedy == "run make kafka-jars"


def test_what_is_weak_bounds_and_does_not_forbid() -> None:
    findings = {one.need: one for one in judged(Facts(1024, 1, 2000, {}), ["a1", "a3-single"])}
    assert "824 phones" in findings["files"].found
    assert "ulimit" in findings["files"].remedy
    assert all(findings[need].state == "weak" for need in ("files", "cores", "memory"))


def test_memory_is_judged_by_who_asks() -> None:
    facts = Facts(20_000, 2, 2000, {})
    states = [[one.state for one in judged(facts, [name]) if one.need == "memory"] for name in ("a1", "a3-single")]
    assert states == [["ok"], ["weak"]]
