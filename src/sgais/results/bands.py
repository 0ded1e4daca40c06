"""How wide bands are, and when a leader is beyond doubt: the same in records, figures, the terminal and on the page."""

BAND = 3.0  # standard errors on either side: where two bands are apart, chance is no explanation
SEPARATED = 0.95  # the least probability of a leader that is beyond doubt, at the low end of its band
