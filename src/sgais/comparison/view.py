"""What is read off a comparison: how the models stand, through time and now, as records, a table or in words."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sgais.comparison.decisions import Decisions
from sgais.comparison.probabilities import with_bands
from sgais.comparison.records import ComparisonRecord, ModelStanding, Standings
from sgais.decisions import Decision
from sgais.decisions.e_values import require_level
from sgais.errors import require
from sgais.history import History
from sgais.online import OnlineEvidence
from sgais.results import rendered
from sgais.results.record import EvidenceRecord
from sgais.results.summary import with_error
from sgais.shift import ShiftDetector

if TYPE_CHECKING:
    import pandas as pd


class ComparisonView:
    """Whatever compares models, to read."""

    _members: dict[str, OnlineEvidence]
    _decisions: Decisions
    _failures: dict[str, str]
    _history: History
    _log_odds: dict[str, float]
    _records: Standings
    _weights: dict[str, float]  # in predictions
    _scores: dict[str, float]  # of each model so far
    _score: float  # of the mixture

    @property
    def names(self) -> tuple[str, ...]:
        """The models, those that have failed included."""
        return tuple(self._members)

    @property
    def failures(self) -> dict[str, str]:
        """Why models cannot continue, by name."""
        return dict(self._failures)

    @property
    def num_rows(self) -> int:
        """Rows seen so far."""
        return self._history.num_rows

    @property
    def records(self) -> tuple[ComparisonRecord, ...]:
        """One per chunk; they are made anew each time, so keep them rather than ask again."""
        return tuple(self._records)

    @property
    def last_record(self) -> ComparisonRecord | None:
        """The newest of them."""
        return self._records[-1] if self._records else None

    @property
    def weights(self) -> dict[str, float]:
        """Of each model in predictions; they sum to one. Through time they are in the records' standings."""
        return dict(self._weights)

    @property
    def score(self) -> float:
        """The prequential log score: the sum of all log predictives of the mixture, each made before its chunk."""
        return self._score

    @property
    def scores(self) -> dict[str, float]:
        """The same of each model alone. Where models are stacked, rows are scored one by one, else chunk by chunk."""
        return dict(self._scores)

    @property
    def curves(self) -> dict[str, tuple[EvidenceRecord, ...]]:
        """The evidence curve of each model."""
        return {name: member.records for name, member in self._members.items()}

    @property
    def detectors(self) -> dict[str, ShiftDetector]:
        """The shift detector of each model, with its alarms so far; empty if none were asked for."""
        return {name: member.detector for name, member in self._members.items() if member.detector is not None}

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each model given all rows so far; failed ones have none."""
        return {name: standing.probability for name, standing in self.standings.items()}

    @property
    def standings(self) -> dict[str, ModelStanding]:
        """How each model stands now; failed ones have no standing."""
        names = self._alive()
        log_posteriors = np.array([self._log_odds[name] + self._members[name].log_evidence for name in names])
        errors = np.array([self._members[name].standard_error for name in names])
        probabilities, lows, highs = with_bands(log_posteriors, errors)
        standings = {}
        for number, name in enumerate(names):
            member = self._members[name]
            last = member.last_record
            standings[name] = ModelStanding(
                log_evidence=member.log_evidence,
                standard_error=member.standard_error,
                increment=last.increment if last else 0.0,
                probability=float(probabilities[number]),
                low=float(lows[number]),
                high=float(highs[number]),
                weight=self._weights.get(name, 0.0),
                annealing_steps=last.annealing_steps if last else 0,
                warning=member.warning,
                mode_doubt=last.mode_doubt if last else 0.0,
                kernel_bias=last.kernel_bias if last else 0.0,
            )
        return standings

    def __getitem__(self, name: str) -> OnlineEvidence:
        """One of the models' evidences."""
        return self._members[name]

    def log_bayes_factor(self, first: str, second: str) -> tuple[float, float]:
        """Log Z of the first model less that of the second, and its standard error."""
        one, other = self._members[first], self._members[second]
        error = float(np.hypot(one.standard_error, other.standard_error))
        return one.log_evidence - other.log_evidence, error

    def decide(self, level: float = 0.05, null: str | None = None) -> Decision:
        """Whether one model may be rejected, whatever its parameters, and since which row (`sgais.decisions`).

        May be asked at any time, as often as one likes: a true null is ever rejected with probability `level` at most.

        Args:
            level: The largest probability of rejecting a true null.
            null: The model that is doubted; the first, if omitted. All others together, by their prior odds, are the
                alternative. Its prior does not count, theirs may be any.
        """
        level, null = require_level(level), self.names[0] if null is None else null
        require(null in self._members, "null", f"be one of {sorted(self._members)}", null)
        require(len(self._members) > 1, "null", "have other models beside it", null)
        return self._decisions.decide(null, level, self._members, self._history, self._records.ends())

    def table(self) -> "pd.DataFrame":
        """The models by probability: log Z, log Bayes factor against the leader, probability with its band."""
        standings = self.standings
        ranked = sorted(standings, key=lambda name: standings[name].probability, reverse=True)
        lines = {}
        for name in ranked:
            standing = standings[name]
            factor, error = self.log_bayes_factor(name, ranked[0])
            lines[name] = {
                "log_evidence": standing.log_evidence,
                "standard_error": standing.standard_error,
                "log_bayes_factor": factor,
                "factor_error": error if name != ranked[0] else 0.0,
                "probability": standing.probability,
                "low": standing.low,
                "high": standing.high,
                "note": standing.warning,
            }
        for name, why in self._failures.items():
            lines[name] = {"note": f"failed: {why}"}
        import pandas as pd  # slow to import

        return pd.DataFrame.from_dict(lines, orient="index")

    def to_arviz(self, num_rows: int = 500) -> dict[str, Any]:
        """What `OnlineEvidence.to_arviz` gives of every model, on the same rows: for `arviz.compare`."""
        return {name: self._members[name].to_arviz(num_rows) for name in self.names if name not in self._failures}

    def to_markdown(self) -> str:
        """The table as Markdown."""
        return rendered.markdown(self._rounded())

    def to_latex(self) -> str:
        """The table as LaTeX, with the lines of booktabs."""
        return rendered.latex(self._rounded())

    def _repr_html_(self) -> str:
        notes = [f"BEWARE of {name}: {note}." for name, note in self.table()["note"].items() if note]
        return rendered.html(self._rounded(), [f"{self.num_rows} rows. {self._verdict()}", *notes])

    def summary(self) -> "pd.DataFrame":
        """The parameters of every model: mean, standard deviation and quantiles, in the units of the data."""
        import pandas as pd  # slow to import

        found = {name: self._members[name].summary() for name in self._alive()}
        return pd.concat(found, names=["model", "parameter"])

    def _rounded(self) -> "pd.DataFrame":
        """The table as people write it: each number with its error, no more digits than it has."""
        import pandas as pd  # slow to import

        lines = {}
        for name, line in self.table().drop(index=list(self._failures)).iterrows():
            lines[str(name)] = {
                "log Z": with_error(line["log_evidence"], line["standard_error"]),
                "log Bayes factor": with_error(line["log_bayes_factor"], line["factor_error"]),
                "probability": f"{line['probability']:.3f}",
                "warning": line["note"],
            }
        for name, why in self._failures.items():
            lines[name] = {"log Z": "", "log Bayes factor": "", "probability": "", "warning": f"failed: {why}"}
        frame = pd.DataFrame.from_dict(lines, orient="index")
        return frame if frame["warning"].any() else frame.drop(columns="warning")

    def to_frame(self) -> "pd.DataFrame":
        """The standing of every model after every chunk, one row each."""
        import pandas as pd  # slow to import

        return pd.DataFrame(self._records.columns())

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.names)}, num_rows={self.num_rows})"

    def __str__(self) -> str:
        table = self.table()
        notes = [f"BEWARE of {name}: {note}." for name, note in table["note"].items() if note]
        numbers = table.drop(columns="note").to_string(float_format=lambda value: f"{value:.4g}")
        return "\n".join([numbers, f"{self.num_rows} rows. {self._verdict()}", *notes])

    def _verdict(self) -> str:
        if not self._records or len(self._alive()) < 2:
            return "Nothing to compare yet."
        record = self._records[-1]._replace(models=self.standings)  # a model may have joined or left since
        ranked = sorted(record.models, key=lambda name: record.models[name].probability, reverse=True)
        factor, error = self.log_bayes_factor(ranked[0], ranked[1])
        lead = f"{ranked[0]} leads {ranked[1]} by {factor:.1f} ± {error:.1f} nats"
        return f"{lead}." if record.is_separated else f"{lead}: not yet separated."

    def _alive(self) -> list[str]:
        return [name for name in self._members if name not in self._failures]
