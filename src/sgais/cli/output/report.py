"""The report of a run, in Markdown and as a page that holds its own pictures."""

import base64
import html
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:auto;padding:1rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{padding:.2rem .8rem;border-bottom:1px solid #ccc;text-align:right}"
    "td:first-child,th:first-child{text-align:left}figure{margin:2rem 0}"
    "img{max-width:100%;width:34rem;display:block}figcaption{font-weight:bold}h1{overflow-wrap:anywhere}"
)
CAPTIONS = {
    "histograms.png": "The data of each phase, and all of them",
    "evidence.png": "Log Z per row, against the rows seen",
    "probabilities.png": "The models' probabilities",
    "bayes_factors.png": "Log Bayes factors",
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
            f"<table>{_row('th', self.header)}{rows}</table><p>{alarms}</p>{figures}</html>\n"
        )

    def _alarms(self, bullet: str) -> str:
        return "\n".join(bullet + line[:1].upper() + line[1:] + "." for line in self.alarms) or "No change of the data."


def _row(kind: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in cells) + "</tr>"


def _figure(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    caption = html.escape(CAPTIONS.get(path.name, path.name))
    picture = f"<img alt='{caption}' src='data:image/png;base64,{data}'>"
    return f"<figure><figcaption>{caption}</figcaption>{picture}</figure>"
