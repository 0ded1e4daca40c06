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
    """

    num_rows: int = 0
    first_row: int = 0
    log_predictive: float = 0.0
    standard_error: float = 0.0

    def plus(self, other: "LeftOut") -> "LeftOut":
        """These and later ones."""
        return LeftOut(
            self.num_rows + other.num_rows,
            self.first_row if self.num_rows else other.first_row,
            self.log_predictive + other.log_predictive,
            float(np.hypot(self.standard_error, other.standard_error)),
        )

    @property
    def warning(self) -> str:
        """What there is to say of log Z because of them; empty if there are none."""
        if not self.num_rows:
            return ""
        rows = "a row was" if self.num_rows == 1 else f"{self.num_rows:,} rows were"
        counted = ""
        if self.log_predictive:
            counted = f", but counts by {self.log_predictive:.3g} nats, which are good to a tenth"
        return f"{rows} left out as absurd by the predictive, the first of them row {self.first_row:,}{counted}"


NONE_LEFT_OUT = LeftOut()
