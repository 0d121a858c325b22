"""Processor time and memory of a process with its children, and metrics as text."""

from __future__ import annotations

from lapwing.lab.crowdsourcing.scrape import parse
from lapwing.lab.crowdsourcing.usage import Entry, by_root, descendants, entry


def test_children_count_and_others_do_not() -> None:
    tree = [Entry(10, 1, 1.0, 100), Entry(11, 10, 2.0, 200), Entry(12, 11, 4.0, 400), Entry(20, 1, 8.0, 800)]
    used = by_root(tree, [10, 20, 30])
    assert (used[10].cpu_s, used[10].rss_bytes) == (7.0, 700)
    assert (used[20].cpu_s, used[30].cpu_s) == (8.0, 0.0)
    assert descendants(tree, [10, 30]) == {11, 12}


def test_a_name_with_brackets_is_no_trouble() -> None:
    stat = "42 (a) b (c)) S 7 42 42 0 -1 0 0 0 0 0 100 50 25 25 20 0 1 0 5 1000 3 0 0"
    found = entry(42, stat)
    assert (found.parent, found.cpu_s > 0, found.rss_bytes > 0) == (7, True, True)
    assert (found.started, found.ended) == (5, False)
    assert entry(42, stat.replace(" S ", " Z ")).ended


def test_samples_by_label() -> None:
    metrics = parse('a_total{x="1",y="p\\"q"} 2\na_total{x="2"} 3\n# TYPE b gauge\nb 4.5\nnot a sample at all\n')
    assert metrics.total("a_total") == 5
    assert metrics.total("a_total", x="2") == 3
    assert metrics.by("a_total", "x") == {"1": 2, "2": 3}
    assert metrics.total("b") == 4.5
    assert metrics.total("nowhere") == 0
