"""The sum over all change points, chunk by chunk (Adams and MacKay, 2007, with evidences of segments).

Every border between chunks may be a change, with a probability known beforehand. The rows from a change on have the
evidence of a model that begins there. So the evidence of all rows, with the latest change at a border, is that of
the rows before, times the probability of a change there and none since, times the evidence of the segment: one
number for each segment in the bank.
"""

from dataclasses import dataclass, replace

import numpy as np

from sgais.comparison.probabilities import log_sum

YOUNG = 10  # starts that are kept whatever their probability: they have not had a chance yet
LEAST_POSTERIOR = 1e-10  # of entries that are kept


@dataclass(frozen=True)
class RunLengths:
    """Where the latest change may be.

    One entry for each segment in the bank: a start and a model.

    Attributes:
        starts: The first rows of the segments.
        models: The numbers of their models.
        log_prefixes: Log evidence of the rows before the start, times the probabilities of a change there and of the
            model.
        prefix_errors: The standard errors of the log evidences in these.
        log_bests: As `log_prefixes`, with the best segmentation of the rows before in the place of the sum over all.
        log_survivals: Log probability that there was no change since.
        log_evidences: Of the segments.
        errors: Of these.
    """

    starts: np.ndarray
    models: np.ndarray
    log_prefixes: np.ndarray
    prefix_errors: np.ndarray
    log_bests: np.ndarray
    log_survivals: np.ndarray
    log_evidences: np.ndarray
    errors: np.ndarray

    @classmethod
    def none(cls) -> "RunLengths":
        """Before the first row."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        return cls(whole, whole, real, real, real, real, real, real)

    @property
    def log_joints(self) -> np.ndarray:
        """Log evidence of all rows with the latest change here."""
        return self.log_prefixes + self.log_survivals + self.log_evidences

    @property
    def log_evidence(self) -> float:
        """The log evidence of all rows; 0 before the first."""
        return log_sum(self.log_joints) if len(self.starts) else 0.0

    @property
    def posterior(self) -> np.ndarray:
        """The probability of each entry."""
        return np.exp(self.log_joints - self.log_evidence)

    @property
    def standard_error(self) -> float:
        """The error of the log evidence: all errors taken for one and the same, which is never too little."""
        return float(self.posterior @ np.hypot(self.prefix_errors, self.errors)) if len(self.starts) else 0.0

    @property
    def best(self) -> int:
        """The entry that the most probable segmentation ends with."""
        return int(np.argmax(self.log_bests + self.log_survivals + self.log_evidences))

    def begun(self, start: int, log_model_priors: np.ndarray, change: float) -> "RunLengths":
        """With new segments, one for each model, at a border where there is a change with this probability."""
        count, is_first = len(log_model_priors), not len(self.starts)
        log_change = 0.0 if is_first else float(np.log(change))
        best = 0.0 if is_first else float(np.max(self.log_bests + self.log_survivals + self.log_evidences))
        survived = replace(self, log_survivals=self.log_survivals + np.log1p(-change))
        new = {
            "starts": np.full(count, start),
            "models": np.arange(count),
            "log_prefixes": self.log_evidence + log_change + log_model_priors,
            "prefix_errors": np.full(count, self.standard_error),
            "log_bests": best + log_change + log_model_priors,
            "log_survivals": np.zeros(count),
            "log_evidences": np.zeros(count),
            "errors": np.zeros(count),
        }
        return RunLengths(**{name: np.concatenate([values, new[name]]) for name, values in vars(survived).items()})

    def with_evidences(self, log_evidences: np.ndarray, errors: np.ndarray) -> "RunLengths":
        """After the segments have taken in a chunk."""
        return replace(self, log_evidences=log_evidences, errors=errors)

    def only(self, lines: np.ndarray) -> "RunLengths":
        """Some of the entries."""
        return RunLengths(**{name: values[lines] for name, values in vars(self).items()})


def by_start(run_lengths: RunLengths) -> tuple[np.ndarray, np.ndarray]:
    """The first rows, and their probabilities over all models."""
    starts, places = np.unique(run_lengths.starts, return_inverse=True)
    return starts, np.bincount(places, run_lengths.posterior, len(starts)) if len(starts) else np.zeros(0)


def worth_keeping(run_lengths: RunLengths, most: int) -> np.ndarray:
    """Which entries the future may need, `most` of them at most: the newest, and then the most probable."""
    starts = np.unique(run_lengths.starts)
    per_start = len(np.unique(run_lengths.models))
    is_young = np.isin(run_lengths.starts, starts[-min(YOUNG, most // (2 * per_start)) :])
    posterior = run_lengths.posterior
    kept = np.zeros(len(posterior), bool)
    kept[np.argsort(-np.where(is_young, 2.0, posterior), kind="stable")[:most]] = True
    return kept & (is_young | (posterior > LEAST_POSTERIOR))
