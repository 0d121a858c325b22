"""Pieces of a page that holds everything it shows and fetches nothing: pictures in both schemes, tables, cards.

Everything that comes from data goes through `text`; markup is only here, in `page_style`, and in the pages themselves.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import lapwing
from lapwing.pipeline.report.page_style import STYLE
from lapwing.text import one_line


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in both schemes, as PNG bytes."""

    name: str
    light: bytes
    dark: bytes


def document(title: str, heading: str, headline: str, body: str, footer: str) -> str:
    """The whole page.

    Args:
        title: Of the window.
        heading: Its largest words.
        headline: A line below it, markup.
        body: Markup.
        footer: Markup.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Lapwing {text(lapwing.__version__)}">
<link rel="icon" href="data:,">
<title>{text(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{text(heading)}</h1><p>{headline}</p></header>
<main>
{body}
</main>
<footer>{footer}</footer>
</body>
</html>
"""


def section(name: str, title: str, words: str, picture: Picture, below: str) -> str:
    """A picture with its heading and caption, and markup ``below`` it."""
    return f"""<section id="{name}">
<h2>{title}</h2>
<figure>
<div class="scroll"><picture>
<source media="(prefers-color-scheme: dark)" srcset="{_data_uri(picture.dark)}">
<img src="{_data_uri(picture.light)}" alt="{text(words)}">
</picture></div>
<figcaption>{text(words)}</figcaption>
</figure>
{below}
</section>
"""


def cards(figures: Sequence[tuple[str, str, str]]) -> str:
    """Large figures: name, value, and ``good``, ``bad`` or nothing."""
    items = "".join(
        f'<li class="{mood}"><b>{text(value)}</b><span>{text(name)}</span></li>' for name, value, mood in figures
    )
    return f'<ul class="cards">{items}</ul>'


def table(head: tuple[str, ...], body: Sequence[tuple[str, ...]], words: tuple[int, ...] = (0,)) -> str:
    """A table that scrolls sideways by itself on a narrow screen; columns of ``words`` are text, the others
    figures.
    """

    def line(cells: tuple[str, ...], tag: str) -> str:
        made = (
            f'<{tag} class="{"word" if index in words else "figure"}">{text(cell)}</{tag}>'
            for index, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    rows = "".join(line(cells, "td") for cells in body)
    made = f"<table><thead>{line(head, 'th')}</thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{made}</div>'


def text(words: str) -> str:
    """Words as markup that shows them."""
    return escape(one_line(words), quote=True)


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"
