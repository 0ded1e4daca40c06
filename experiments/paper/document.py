"""A document of headings, paragraphs, tables and figures, as Markdown and as one page that holds its own pictures."""

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:auto;padding:1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;font-size:14px}td,th{padding:.25rem .7rem;border-bottom:1px solid #ccc;"
    "text-align:left;vertical-align:top}img{max-width:100%;display:block;margin:1rem 0}blockquote{color:#555;"
    "border-left:3px solid #ccc;margin-left:0;padding-left:1rem}code{font-size:90%}"
)


@dataclass(frozen=True)
class Heading:
    """Of a level, from 1."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences; words in backquotes are code."""

    text: str


@dataclass(frozen=True)
class Quotation:
    """What somebody else says."""

    text: str


@dataclass(frozen=True)
class Table:
    """Lines of as many cells as the header has."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    """A file beside the document."""

    file: str
    caption: str


Block: TypeAlias = Heading | Paragraph | Quotation | Table | Picture


def markdown(blocks: Sequence[Block]) -> str:
    """With links to the figures."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def page(blocks: Sequence[Block], folder: Path) -> str:
    """One file that shows everything, wherever it is sent."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    body = "\n".join(_html(block, folder) for block in blocks)
    head = f"<meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
    return f"<!doctype html><html lang='en'>{head}\n{body}</html>\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Quotation(text):
            return f"> {text}"
        case Picture(file, caption):
            return f"![{caption}]({file})"
        case Table(header, lines):
            rows = [header, ["---"] * len(header), *lines]
            return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{_words(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{_words(text)}</p>"
        case Quotation(text):
            return f"<blockquote>{_words(text)}</blockquote>"
        case Picture(file, caption):
            data = base64.b64encode((folder / file).read_bytes()).decode()
            return f"<img alt='{html.escape(caption, quote=True)}' src='data:image/png;base64,{data}'>"
        case Table(header, lines):
            rows = "".join(_row("td", line) for line in lines)
            return f"<table>{_row('th', header)}{rows}</table>"


def _row(kind: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{_words(cell)}</{kind}>" for cell in cells) + "</tr>"


def _words(text: str) -> str:
    """Backquotes and double stars as in Markdown."""
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escaped)
