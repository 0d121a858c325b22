"""Do the pages name only what is there: links, metrics, keys, options, codes, command lines?"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from itertools import takewhile
from pathlib import Path

import pytest
from pages import DOCS, PAGES, ROOT, WRITTEN
from readme import all_blocks

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


def ids(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", [*PAGES, *DECISIONS, ROOT / "ARCHITECTURE.md"], ids=ids)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
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


@pytest.mark.parametrize("page", WRITTEN, ids=ids)
def test_metrics_are_there(page: Path) -> None:
    known = set(re.findall(r"^\| `(lapwing_\w+)`", (DOCS / "metrics.md").read_text(), re.MULTILINE))
    named = set(re.findall(r"`(lapwing_[a-z0-9_]+)[`{]", page.read_text())) - {"lapwing_broker"}
    assert named <= known


@pytest.mark.parametrize("page", WRITTEN, ids=ids)
def test_keys_are_there(page: Path) -> None:
    for table, key in re.findall(r"`(limits|broker|http|auth|dispatch)\.([a-z0-9_]+)`", page.read_text()):
        assert key in TABLES[table].model_fields, f"{table}.{key}"


@pytest.mark.parametrize("page", WRITTEN, ids=ids)
def test_command_lines_are_taken(page: Path) -> None:
    from typer.main import get_command

    from lapwing.cli.app import app

    for block in all_blocks(page):
        for words in lapwing_lines(block.code) if block.language in ("sh", "console") else []:
            command, rest, context = get_command(app), words, None
            while hasattr(command, "resolve_command"):
                context = command.make_context("lapwing", list(rest), parent=context)
                _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
            command.make_context("lapwing", list(rest), parent=context)


def lapwing_lines(code: str) -> list[list[str]]:
    """The arguments of each line that begins with `lapwing`, up to a pipe or a redirection."""
    joined = re.sub(r"\$\([^)]*\)", "1", code.replace("\\\n", " "))
    lines = [line for line in joined.splitlines() if line.startswith("lapwing ")]
    return [list(takewhile(lambda word: word not in SHELL, shlex.split(line, comments=True)[1:])) for line in lines]


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
    pages = "".join((DOCS / name).read_text() for name in ("streams.md", "groups.md", "sessions.md"))
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
