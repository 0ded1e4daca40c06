"""In a notebook: a run that is seen while it goes on."""

import io
import time
from typing import Any

from sgais.changepoints import ChangePoints
from sgais.comparison.comparison import Comparison
from sgais.errors import require
from sgais.online import OnlineEvidence
from sgais.progress import bar_of, display_in_notebook

__all__ = ["Live"]

STYLE = "display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start"


class Live:
    """A view of a run that is drawn anew in its place: where it stands as a table, and its curve.

    Args:
        follower: A `sgais.Comparison`, `sgais.OnlineEvidence` or `sgais.ChangePoints`.
        total_rows: Rows of the stream, if that is known: for a bar.
        every_seconds: Time from one drawing to the next. The last chunk is drawn by `show`, or when the run has seen
            `total_rows`.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> comparison = sgais.Comparison(models)
        >>> live = sgais.notebook.Live(comparison, total_rows=400)
        >>> record = comparison.run(sgais.stream(data, chunk_size=200), after_chunk=live)
        >>> "both" in live.page()
        True
    """

    def __init__(
        self,
        follower: Comparison | OnlineEvidence | ChangePoints,
        total_rows: int | None = None,
        every_seconds: float = 1.0,
    ) -> None:
        kinds = (Comparison, OnlineEvidence, ChangePoints)
        rule = "be a Comparison, an OnlineEvidence or a ChangePoints"
        require(isinstance(follower, kinds), "follower", rule, follower)
        self._follower, self._total_rows, self._every_seconds = follower, total_rows, every_seconds
        self._drawn = -float("inf")
        self._handle: Any = None

    def __call__(self, record: Any) -> None:
        """After a chunk: draw, if the last drawing is some time ago."""
        is_last = self._total_rows is not None and record.num_rows >= self._total_rows
        if is_last or time.monotonic() - self._drawn >= self._every_seconds:
            self.show()

    def show(self) -> None:
        """Draw now; outside of a notebook nothing happens."""
        self._drawn = time.monotonic()
        display = display_in_notebook()
        if display is None:
            return
        if self._handle is None:
            self._handle = display(self, display_id=True)
        else:
            self._handle.update(self)

    def page(self) -> str:
        """What is drawn, as HTML."""
        bar = "" if self._total_rows is None else bar_of(self._follower.num_rows / self._total_rows, self._words())
        table = self._follower._repr_html_()
        return f"{bar}<div style='{STYLE}'><div>{table}</div><div>{self._figure()}</div></div>"

    _repr_html_ = page

    def _words(self) -> str:
        return f"{self._follower.num_rows:,} of {self._total_rows:,} rows"

    def _figure(self) -> str:
        """The curve as SVG, on white, so that it can be read in a dark notebook too; nothing before the first chunk."""
        if not self._follower.num_rows:
            return ""
        from sgais import plots  # Matplotlib is slow to import

        follower = self._follower
        if isinstance(follower, ChangePoints):
            figure = plots.change_points(follower)
        elif isinstance(follower, Comparison) and len(follower.names) > 1:
            figure = plots.bayes_factors(follower.records)
        else:
            figure = plots.evidence(follower.records)
        text = io.StringIO()
        figure.savefig(text, format="svg", facecolor="white")
        drawing = text.getvalue()
        return drawing[drawing.index("<svg") :]
