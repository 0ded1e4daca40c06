"""What is left in log Z of moves that did not mix: families of particles, and the lag behind the temperatures.

A particle that has not forgotten its parent is no fresh draw, and the variance of a step's weights does not know.
Particles of different families, the descendants of different first draws, share nothing, though: what each family
gains over all steps tells the whole variance (Chan and Lai 2013; Lee and Whiteley 2018).

Moves leave the law of the particles alone, if it is the right one. So the factor on Z of the next step has to be the
same before a move as after it; where it rises from one to the other, and time and again, particles lag behind the
temperatures. A move removes all of the lag but the share that its correlation leaves: that share of it is what is
missing in log Z.
"""

from typing import NamedTuple

import numpy as np

LARGEST_LAG = 0.12  # nats, up to which the error bar can take it
LARGEST_CORRELATION = 0.95  # beyond it a move tells nothing, and what it leaves is anybody's guess


class Lag(NamedTuple):
    """What moves have left of the way that particles still had to go, summed over moves.

    Attributes:
        nats: By how much log Z is too low (or high, if negative).
        variance: Of that, by chance alone.
    """

    nats: float = 0.0
    variance: float = 0.0

    def plus(self, other: "Lag") -> "Lag":
        """The lag of the moves of both."""
        return Lag(self.nats + other.nats, self.variance + other.variance)

    @property
    def beyond_chance(self) -> float:
        """What chance does not explain, in nats."""
        return float(np.sqrt(max(self.nats**2 - self.variance, 0.0)))

    @property
    def is_certain(self) -> bool:
        """Whether there is more of it than an error bar can tell.

        What is measured is the least of it: where particles lag behind most, some of what they lack they never see.
        """
        return abs(self.nats) > max(LARGEST_LAG, 3 * float(np.sqrt(self.variance)))


def lag(log_weights: np.ndarray, before: np.ndarray, after: np.ndarray) -> Lag:
    """What one move has left, from the logs of the next step's weights (particles,) before it and after it."""
    shares = shares_of(log_weights)
    top = max(before.max(), after.max())
    factors = [np.exp(values - top) for values in (before, after)]
    means = [float(shares @ factor) for factor in factors]
    if min(means) == 0:
        return Lag()
    old, new = (factor / mean - 1 for factor, mean in zip(factors, means, strict=True))
    spread = np.sqrt((shares @ old**2) * (shares @ new**2))
    correlation = float(shares @ (old * new) / spread) if spread > 0 else 0.0
    correlation = min(max(correlation, 0.0), LARGEST_CORRELATION)
    left = correlation / (1 - correlation)
    return Lag(left * float(np.log(means[1] / means[0])), left**2 * float(shares**2 @ (new - old) ** 2))


def shares_of(log_weights: np.ndarray) -> np.ndarray:
    """Weights that sum to one."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


class Families(NamedTuple):
    """Who descends from whom.

    Attributes:
        members: The family of each particle, named by its first draw, shape (particles,).
        gains: What each family has gained in its share of all weights over all steps, shape (families,).
    """

    members: np.ndarray
    gains: np.ndarray

    @classmethod
    def of(cls, count: int) -> "Families":
        """One for each first draw."""
        return cls(np.arange(count), np.zeros(count))

    def weighed(self, old: np.ndarray, new: np.ndarray) -> "Families":
        """After a step from old to new log weights. What resampling rounds off is no gain."""
        gains = np.bincount(self.members, shares_of(new) - shares_of(old), len(self.gains))
        return self._replace(gains=self.gains + gains)

    def resampled(self, survivors: np.ndarray) -> "Families":
        """The families of the particles that live on."""
        return self._replace(members=self.members[survivors])

    @property
    def variance(self) -> float:
        """The variance of log Z. Without resampling it is 1 / ESS - 1 / M."""
        return float(self.gains @ self.gains)

    @property
    def number(self) -> int:
        """How many are left."""
        return len(np.unique(self.members))
