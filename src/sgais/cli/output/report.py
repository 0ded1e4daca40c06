"""The report of a run, in Markdown and as a page that holds its own pictures."""

import base64
import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:100rem;margin:auto;padding:1rem 2rem;color:#222;background:#fff}"
    "p,h1{max-width:50rem}h1{overflow-wrap:anywhere;line-height:1.2}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{padding:.2rem .8rem;border-bottom:1px solid #8886;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
    ".figures{display:grid;gap:1.5rem;margin:2rem 0}"
    ".figures{grid-template-columns:repeat(auto-fill,minmax(min(26rem,100%),1fr))}"
    "figure{margin:0}figcaption{font-weight:bold;margin-bottom:.3rem}"
    "figure svg,figure img{display:block;width:100%;height:auto;max-height:34rem;background:#fff;border-radius:6px}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181d}}"
)
CAPTIONS = {
    "histograms.png": "The data of each phase, and all of them",
    "evidence.png": "Log Z per row, against the rows seen",
    "probabilities.png": "The models' probabilities",
    "weights.png": "The models' weights in predictions",
    "bayes_factors.png": "Log Bayes factors",
    "change_points.png": "Where the data changed",
    "annealing.png": "Annealing steps per chunk: spikes where data surprise",
}


class Report(NamedTuple):
    """What a run has found.

    Attributes:
        title: The heading.
        paragraphs: Whole sentences.
        header: Of the table.
        table: Its lines.
        alarms: Changes of the data, one line each.
        figures: Files beside the report.
    """

    title: str
    paragraphs: Sequence[str]
    header: Sequence[str]
    table: Sequence[Sequence[str]]
    alarms: Sequence[str]
    figures: Sequence[str]

    def write(self, folder: Path) -> None:
        """Write report.md and report.html."""
        (folder / "report.md").write_text(self.markdown(), encoding="utf-8")
        (folder / "report.html").write_text(self.page(folder), encoding="utf-8")

    def markdown(self) -> str:
        """With links to the figures."""
        rows = [self.header, ["---"] * len(self.header), *self.table]
        table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
        figures = "\n".join(f"![{CAPTIONS.get(name, name)}]({name})" for name in self.figures)
        return "\n\n".join([f"# {self.title}", *self.paragraphs, table, self._alarms("- "), figures]) + "\n"

    def page(self, folder: Path) -> str:
        """One file that shows everything, wherever it is sent."""
        rows = "".join(_row("td", row) for row in self.table)
        paragraphs = "".join(f"<p>{html.escape(text)}</p>" for text in self.paragraphs)
        alarms = "<br>".join(map(html.escape, self._alarms("").splitlines()))
        figures = "".join(_figure(folder / name) for name in self.figures)
        return (
            f"<!doctype html><html lang='en'><meta charset='utf-8'>"
            f"<meta name='viewport' content='width=device-width'><title>{html.escape(self.title)}</title>"
            f"<style>{STYLE}</style><h1>{html.escape(self.title)}</h1>{paragraphs}"
            f"<table>{_row('th', self.header)}{rows}</table><p>{alarms}</p>"
            f"<div class='figures'>{figures}</div></html>\n"
        )

    def _alarms(self, bullet: str) -> str:
        return "\n".join(bullet + line[:1].upper() + line[1:] + "." for line in self.alarms) or "No change of the data."


def _row(kind: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"


def _figure(path: Path) -> str:
    """As a drawing, where there is one beside the picture: sharp at any size."""
    caption = html.escape(CAPTIONS.get(path.name, path.name))
    drawing = path.with_suffix(".svg")
    if drawing.exists():
        text = drawing.read_text(encoding="utf-8")
        shown = text[text.index("<svg") :].replace("<svg ", f"<svg role='img' aria-label='{caption}' ", 1)
        # Parts of a drawing refer to each other by names, which several drawings of a page must not share.
        shown = re.sub(r'((?:id="|href="#|url\(#))', rf"\1{path.stem}-", shown)
    else:
        shown = f"<img alt='{caption}' src='data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}'>"
    return f"<figure><figcaption>{caption}</figcaption>{shown}</figure>"
