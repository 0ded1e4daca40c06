"""A small table of texts as Markdown, LaTeX and HTML; no library is needed for that."""

import html as escaping
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
LATEX |= {sign: "\\" + sign for sign in "&%$#_{}"}


def markdown(table: "pd.DataFrame") -> str:
    """With numbers to the right."""
    lines = [["", *table.columns], ["---", *["---:"] * len(table.columns)], *_cells(table)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def latex(table: "pd.DataFrame") -> str:
    """A `tabular` of booktabs."""
    head, *body = [
        " & ".join("".join(LATEX.get(sign, sign) for sign in cell) for cell in line) + r" \\"
        for line in [["", *table.columns], *_cells(table)]
    ]
    columns = "l" + "r" * len(table.columns)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def html(table: "pd.DataFrame", notes: Sequence[str]) -> str:
    """A table and sentences under it, for a notebook."""
    head = "".join(f"<th>{escaping.escape(cell)}</th>" for cell in ["", *table.columns])
    body = "".join(
        "<tr>" + "".join(f"<td>{escaping.escape(cell)}</td>" for cell in line) + "</tr>" for line in _cells(table)
    )
    below = "".join(f"<p>{escaping.escape(note)}</p>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def block(text: str) -> str:
    """Text as it is printed, for a notebook."""
    return f"<pre style='white-space:pre-wrap;margin:0'>{escaping.escape(text)}</pre>"


def _cells(table: "pd.DataFrame") -> list[list[str]]:
    return [[str(name), *map(str, line)] for name, line in zip(table.index, table.to_numpy(), strict=True)]
