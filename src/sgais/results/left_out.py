"""Rows that a model was not let take in, and what they mean for its log Z."""

from typing import NamedTuple

import numpy as np


class LeftOut(NamedTuple):
    """The outliers that a model has met so far.

    Attributes:
        num_rows: How many.
        first_row: The number of the first of them in the stream.
        log_predictive: What they count in log Z where the policy is "warn", by the particles as they were.
        standard_error: Of that.
        num_others: Those among them that only other models find absurd.
        num_against: Those that this model finds absurd and another does not: they would speak against it.
        rows_before: Rows that it had taken in before the first that it finds absurd itself.
    """

    num_rows: int = 0
    first_row: int = 0
    log_predictive: float = 0.0
    standard_error: float = 0.0
    num_others: int = 0
    num_against: int = 0
    rows_before: int = 0

    def plus(self, other: "LeftOut") -> "LeftOut":
        """These and later ones."""
        return LeftOut(
            self.num_rows + other.num_rows,
            self.first_row if self.num_rows else other.first_row,
            self.log_predictive + other.log_predictive,
            float(np.hypot(self.standard_error, other.standard_error)),
            self.num_others + other.num_others,
            self.num_against + other.num_against,
            self.rows_before if self.num_own else other.rows_before,
        )

    @property
    def num_own(self) -> int:
        """Those that the model finds absurd itself."""
        return self.num_rows - self.num_others

    @property
    def rows_in_full(self) -> float:
        """Rows up to which log Z has lost nothing by rows that the model itself finds absurd."""
        return self.rows_before if self.num_own else np.inf

    @property
    def warning(self) -> str:
        """What there is to say of log Z because of them; empty if there are none."""
        if not self.num_rows:
            return ""
        rows = "a row was" if self.num_rows == 1 else f"{self.num_rows:,} rows were"
        counted = ""
        if self.log_predictive:
            counted = f", but counts by {self.log_predictive:.3g} nats, which are good to a tenth"
        whose = "the predictive" if self.num_own else "the predictive of another model"
        against = ""
        if self.num_against:
            against = f"; {self.num_against:,} of them would speak against this model, for another can take them in"
        return f"{rows} left out as absurd by {whose}, the first of them row {self.first_row:,}{counted}{against}"


NONE_LEFT_OUT = LeftOut()
