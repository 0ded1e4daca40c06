"""What the next chunk's signal should be, learned from the chunks so far and honest about how few they are.

The signal is regressed on 1 and 1/n, n the rows seen: while a model learns d parameters, its log predictive per row
is d/(2n) below where it ends. The error of predicting the next chunk, divided by its estimated standard deviation, has
a Student distribution exactly (the recursive residuals of Brown, Durbin and Evans 1975), whose quantile makes it a
standard Gaussian score, independent of all before: the self-starting scheme of Hawkins (1987). No burn-in is needed,
and a short history gives cautious scores by itself.
"""

import math
from typing import Any, NamedTuple

from scipy.special import ndtri, stdtr, stdtrit

RESOLUTION = 1e-7  # of a signal in float32, relative
LARGEST_SCORE = 30.0  # what a probability too small for float64 counts
NO_CHANCE = 4.5  # a score beyond it is hardly ever chance


class Surprise(NamedTuple):
    """A chunk against its prediction.

    Attributes:
        score: Standard Gaussian while nothing has changed.
        excess: Signal minus prediction.
    """

    score: float
    excess: float


class Baseline:
    """Predicts a signal whose variance is inversely proportional to a weight (the rows of the chunk).

    Args:
        smallest_deviation: A lower limit of the standard deviation at weight 1, for signals that may stand still.
        has_trend: Whether the signal is regressed on 1/n, or has a constant mean.
        believed: For a signal that should be standard Gaussian: so many chunks of weight 1 are taken for seen that were
            as they should be. Without trend.
    """

    def __init__(self, smallest_deviation: float = 0.0, has_trend: bool = True, believed: int = 0) -> None:
        self.smallest_deviation, self.has_trend = smallest_deviation, has_trend
        self.num_chunks = believed
        # Sums, weighted: of one, 1/n, its square, the signal, the signal times 1/n.
        self._ones, self._inverses, self._inverse_squares = float(believed), 0.0, 0.0
        self._signals, self._products = 0.0, 0.0
        self._squares = float(max(0, believed - 1))  # of the standardised recursive residuals
        self._left_out = False  # whether the chunk before was

    @property
    def level(self) -> float:
        """The mean signal so far."""
        return self._signals / self._ones if self._ones else math.nan

    def surprise(self, signal: float, weight: float, rows_seen: float) -> Surprise:
        """How far off the prediction a chunk is; nothing can be said of the first two, or three with a trend."""
        if self._freedom < 1:
            return Surprise(0.0, 0.0)
        prediction, deviation = self._predict(weight, rows_seen)
        excess = signal - prediction
        return Surprise(_gaussian_score(self._freedom, excess / deviation), excess)

    def learn(self, signal: float, weight: float, rows_seen: float) -> None:
        """Take in a chunk, an odd one only as far as it might be chance.

        One that cannot be is left out, unless the one before it was: if it is the first after a change, it would make
        the second look ordinary.
        """
        is_absurd = abs(self.surprise(signal, weight, rows_seen).score) > NO_CHANCE
        self._left_out = is_absurd and not self._left_out
        if self._left_out:
            return
        if self._freedom >= 1:
            prediction, deviation = self._predict(weight, rows_seen)
            reach = deviation * float(stdtrit(self._freedom, 1.0 - _gaussian_tail(self._reach())))
            signal = min(max(signal, prediction - reach), prediction + reach)
        if self._freedom >= 0:
            prediction, spread = self._fit(weight, rows_seen)
            self._squares += ((signal - prediction) / spread) ** 2
        self._ones += weight
        self._inverses += weight / rows_seen
        self._inverse_squares += weight / rows_seen**2
        self._signals += weight * signal
        self._products += weight * signal / rows_seen
        self.num_chunks += 1

    @property
    def _freedom(self) -> int:
        return self.num_chunks - (2 if self.has_trend else 1)

    def _reach(self) -> float:
        """How far a score can be chance: a little more than the largest of so many Gaussian numbers."""
        return math.sqrt(2.0 * math.log(self.num_chunks)) + 1.0

    def _predict(self, weight: float, rows_seen: float) -> tuple[float, float]:
        """The prediction of a chunk's signal and the standard deviation of its error."""
        prediction, spread = self._fit(weight, rows_seen)
        scale = math.sqrt(self._squares / self._freedom)
        smallest = max(self.smallest_deviation, RESOLUTION * (1.0 + abs(prediction)))
        return prediction, max(scale, smallest) * spread

    def _fit(self, weight: float, rows_seen: float) -> tuple[float, float]:
        """The prediction, and the standard deviation of its error in units of that at weight 1."""
        mean, variance = self._signals / self._ones, 1.0 / weight + 1.0 / self._ones
        if not self.has_trend:
            return mean, math.sqrt(variance)
        inverse_mean = self._inverses / self._ones
        spread = self._inverse_squares - self._inverses * inverse_mean
        slope = (self._products - self._signals * inverse_mean) / spread
        distance = 1.0 / rows_seen - inverse_mean
        return mean + slope * distance, math.sqrt(variance + distance**2 / spread)

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Baseline":
        """The baseline that had this state."""
        baseline = cls()
        vars(baseline).update(state)
        return baseline


def _gaussian_tail(score: float) -> float:
    return 0.5 * math.erfc(score / math.sqrt(2.0))


def _gaussian_score(freedom: int, ratio: float) -> float:
    """The standard Gaussian number with the tail that a Student number has."""
    size = -float(ndtri(stdtr(freedom, -abs(ratio))))
    return math.copysign(min(size, LARGEST_SCORE), ratio)
