"""Do the pages name only what is there: links, metrics, keys, options, codes, command lines?"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import fields
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from pages import DOCS, PAGES, ROOT, WRITTEN
from readme import blocks_of

from lapwing import errors
from lapwing._core import dispatch_table_json
from lapwing.config import AuthSection, BrokerSection, DispatchSection, HttpSection, Limits
from lapwing.pipeline.source.options import SourceOptions

DECISIONS = sorted((DOCS / "decisions").glob("*.md"))
SHELL = ("|", "||", "&&", "&", ">", "<")
TABLES = {
    "limits": Limits,
    "broker": BrokerSection,
    "http": HttpSection,
    "auth": AuthSection,
    "dispatch": DispatchSection,
}


def links(text: str) -> list[str]:
    """Where a page leads to within the project."""
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


def metrics(text: str) -> list[str]:
    """Names of metrics; the fixture of that name is none."""
    return [name for name in re.findall(r"`(lapwing_[a-z0-9_]+)[`{]", text) if name != "lapwing_broker"]


def keys(text: str) -> list[tuple[str, str]]:
    """Table and key of each setting that is named in full."""
    return re.findall(rf"`({'|'.join(TABLES)})\.([a-z0-9_]+)`", text)


def command_lines(text: str) -> list[list[str]]:
    """The arguments of each line of shell that begins with `lapwing`, up to a pipe or a redirection."""
    code = "\n".join(block.code for block in blocks_of(text) if block.language in ("sh", "console"))
    joined = re.sub(r"\$\([^)]*\)", "1", code.replace("\\\n", " "))
    lines = [line for line in joined.splitlines() if line.startswith("lapwing ")]
    return [list(takewhile(lambda word: word not in SHELL, shlex.split(line, comments=True)[1:])) for line in lines]


def with_any(find: Callable[[str], list[Any]], pages: Iterable[Path]) -> list[Any]:
    """A case for each page on which there is something to check: the page, and what was found."""
    found = [(page, find(page.read_text())) for page in pages]
    return [pytest.param(page, facts, id=page.name) for page, facts in found if facts]


LINKS = with_any(links, [*PAGES, *DECISIONS, ROOT / "ARCHITECTURE.md"])
METRICS = with_any(metrics, WRITTEN)
KEYS = with_any(keys, WRITTEN)
COMMAND_LINES = with_any(command_lines, WRITTEN)


def test_what_is_checked_is_found() -> None:
    """Does each finder see what stands on a page, and is there some of it in the docs?"""
    page = """
See [the page](a.md#part), [the web](https://example.org) and `limits.topic_levels_max` beside `lapwing_broker`.
`lapwing_connections` and `lapwing_messages_received_total{qos="1"}` count.
```sh
lapwing pub a/b \\
  "some words" | cat   # and more
echo lapwing sub
```
"""
    assert links(page) == ["a.md#part"]
    assert metrics(page) == ["lapwing_connections", "lapwing_messages_received_total"]
    assert keys(page) == [("limits", "topic_levels_max")]
    assert command_lines(page) == [["pub", "a/b", "some words"]]
    assert all((LINKS, METRICS, KEYS, COMMAND_LINES))


@pytest.mark.parametrize(("page", "targets"), LINKS)
def test_links_lead_somewhere(page: Path, targets: list[str]) -> None:
    for target in targets:
        file, _, anchor = target.partition("#")
        linked = page.parent / file if file else page
        assert linked.exists(), target
        if anchor:
            heads = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^a-z0-9 _-]", "", head.lower()).replace(" ", "-") for head in heads}, target


def test_the_index_is_complete() -> None:
    index = (DOCS / "README.md").read_text()
    pages = [page.relative_to(DOCS).as_posix() for page in [*PAGES, *DECISIONS] if page.name != "README.md"]
    assert not [page for page in pages if f"]({page})" not in index]


@pytest.mark.parametrize(("page", "named"), METRICS)
def test_metrics_are_there(page: Path, named: list[str]) -> None:
    known = set(re.findall(r"^\| `(lapwing_\w+)`", (DOCS / "metrics.md").read_text(), re.MULTILINE))
    assert set(named) <= known


@pytest.mark.parametrize(("page", "named"), KEYS)
def test_keys_are_there(page: Path, named: list[tuple[str, str]]) -> None:
    for table, key in named:
        assert key in TABLES[table].model_fields, f"{table}.{key}"


@pytest.mark.parametrize(("page", "lines"), COMMAND_LINES)
def test_command_lines_are_taken(page: Path, lines: list[list[str]]) -> None:
    from typer.main import get_command

    from lapwing.cli.app import app

    for words in lines:
        command, rest, context = get_command(app), words, None
        while hasattr(command, "resolve_command"):
            context = command.make_context("lapwing", list(rest), parent=context)
            _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        command.make_context("lapwing", list(rest), parent=context)


def test_every_reason_for_a_drop_is_explained() -> None:
    import lapwing

    with lapwing.Broker(shards=1) as broker:
        reasons = set(re.findall(r'dropped_total\{reason="(\w+)"', broker.metrics_text()))
    explained = (DOCS / "faults.md").read_text()
    assert reasons
    assert not {reason for reason in reasons if f"| `{reason}` |" not in explained}


def test_every_answer_of_http_is_explained() -> None:
    folder = ROOT / "python" / "lapwing" / "http"
    sources = "".join(file.read_text() for file in folder.glob("*.py"))
    answers = set(re.findall(r'HttpError\(\s*(\d{3}),\s*"(\w+)"', sources))
    # A read never meets a full disk: the store has that code for its writer.
    answers |= {(status, code) for code, status in re.findall(r'"(\w+)": (\d{3}),', sources)} - {("507", "data_full")}
    pages = "".join(
        (DOCS / name).read_text() for name in ("streams.md", "groups.md", "sessions.md", "strangers.md", "cluster.md")
    )
    rows = [line for line in pages.splitlines() if re.match(r"\| \d{3} ", line)]
    assert len(answers) >= 12
    for status, code in answers:
        assert any(row.startswith(f"| {status} ") and f"`{code}`" in row for row in rows), (status, code)


def test_every_strategy_and_parameter_is_explained() -> None:
    """Has the page of groups each name, and of each parameter range and default?"""
    page, table = (DOCS / "groups.md").read_text(), json.loads(dispatch_table_json())
    for row in table["parameters"]:
        low, high, default = (f"{row[key]:,.10g}" for key in ("low", "high", "default"))
        assert f"| `{row['name']}` | {low} to {high} | {default} | {row['meaning']} |" in page
    first_column = "".join(re.findall(r"^\|([^|]*)\|", page, re.MULTILINE))
    assert all(f"`{name}`" in first_column for name in table["strategies"])


def test_every_option_of_the_source_is_explained() -> None:
    page = (DOCS / "pipeline.md").read_text()
    for option in fields(SourceOptions):
        if option.name != "until":  # the job's own
            assert f"| `{option.name}` |" in page, option.name


def test_every_error_is_explained() -> None:
    page = (DOCS / "python.md").read_text()
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.LapwingError)]
    assert len(kinds) > 10
    for kind in kinds:
        assert kind.__name__ in page, kind.__name__
