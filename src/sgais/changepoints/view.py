"""What is read off change points: where they are, how sure that is, and what the present segment is made of."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sgais.changepoints.predecessors import Predecessors
from sgais.changepoints.records import ChangePointRecord, ChangePointRecords, Segment, Segmentation
from sgais.changepoints.recursion import RunLengths, by_start
from sgais.models.base import ModelLike
from sgais.results import rendered

if TYPE_CHECKING:
    import pandas as pd


class ChangePointsView:
    """Whatever looks for change points, to read."""

    models: Mapping[str, ModelLike]
    _run_lengths: RunLengths
    _predecessors: Predecessors
    _records: ChangePointRecords

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Rows seen so far."""

    @property
    def last_record(self) -> ChangePointRecord | None:
        """The newest record."""
        return self._records[-1] if len(self._records) else None

    @property
    def borders(self) -> np.ndarray:
        """The rows before which there may be a change: where chunks ended."""
        return np.array(self._predecessors.borders[1:], int)

    @property
    def probability(self) -> np.ndarray:
        """The probability of a change at each of the borders, given all rows so far."""
        return self._predecessors.probabilities(self._run_lengths)[1:]

    @property
    def segments(self) -> list[Segment]:
        """The most probable segmentation of all rows so far."""
        return self.segmentation.segments

    @property
    def segmentation(self) -> Segmentation:
        """Borders, probabilities and segments together: what comes from one look backwards through the stream."""
        if not self.num_rows:
            return Segmentation(0, np.zeros(0, int), np.zeros(0), [])
        found = self._predecessors.probabilities(self._run_lengths)
        probabilities = dict(zip(self._predecessors.borders, found.tolist(), strict=True))
        best = self._predecessors.best_segments(self._run_lengths)
        ends = [*(start for start, _ in best[1:]), self.num_rows]
        names = list(self.models)
        segments = [
            Segment(start, end, names[model], probabilities[start])
            for (start, model), end in zip(best, ends, strict=True)
        ]
        return Segmentation(self.num_rows, self.borders, found[1:], segments)

    @property
    def run_lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows since the latest change, and the probability of each such number."""
        starts, shares = by_start(self._run_lengths)
        return self.num_rows - starts, shares

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each model for the present segment."""
        shares = np.bincount(self._run_lengths.models, self._run_lengths.posterior, len(self.models))
        return dict(zip(self.models, shares.tolist(), strict=True))

    @property
    def log_evidence(self) -> float:
        """Log Z of all rows so far, all change points summed out; 0 before the first."""
        return self._run_lengths.log_evidence

    @property
    def standard_error(self) -> float:
        """The Monte Carlo error of `log_evidence`."""
        return self._run_lengths.standard_error

    @property
    def records(self) -> tuple[ChangePointRecord, ...]:
        """One per chunk."""
        return tuple(self._records)

    def to_frame(self) -> "pd.DataFrame":
        """The records as a data frame, one row per chunk, and the probability that it began with a change."""
        import pandas as pd  # slow to import

        columns = self._records.columns()
        return pd.DataFrame(columns | {"change": [float("nan"), *self.probability][: len(self._records)]})

    def _repr_html_(self) -> str:
        return rendered.block(str(self))

    def __repr__(self) -> str:
        return f"ChangePoints({', '.join(map(repr, self.models.values()))}, num_rows={self.num_rows})"

    def __str__(self) -> str:
        lines = [f"{self.num_rows} rows, log Z = {self.log_evidence:.2f} ± {self.standard_error:.2f}."]
        for segment in self.segments:
            model = f" {segment.model}" if len(self.models) > 1 else ""
            sure = f" (probability of the change {segment.probability:.3f})" if segment.start else ""
            lines.append(f"rows {segment.start} to {segment.end}:{model}{sure}")
        last = self.last_record
        return "\n".join([*lines, f"BEWARE: {last.warning}."] if last and last.warning else lines)
