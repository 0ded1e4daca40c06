"""How a run ended, and what is known of it."""

import math
from typing import NamedTuple

COMPLETE, OUT_OF_TIME, FAILED, NOT_BEGUN = "complete", "out of time", "failed", "not begun"
TOO_SLOW = "too slow"  # why a run was not begun whose method came to its end, but late, on fewer rows


class Outcome(NamedTuple):
    """A run that was made, or was not worth beginning.

    Attributes:
        ending: One of the four words above.
        words: The method's doubts, or why it failed.
        log_evidence: In nats, like the next two.
        truth: What it should be.
        standard_error: As claimed.
        seconds: Without compilation; how long it was left to run where it ran out of time.
        compile_seconds: Before the run and during it.
        likelihoods: Evaluations over all rows, where they are known.
        gradients: The same.
        peak_megabytes: Of its process, data and libraries included.
        limit: Seconds that it was allowed.
    """

    ending: str
    words: str = ""
    log_evidence: float = math.nan
    truth: float = math.nan
    standard_error: float = math.nan
    seconds: float = math.nan
    compile_seconds: float = math.nan
    likelihoods: int | None = None
    gradients: int | None = None
    peak_megabytes: float = math.nan
    limit: float = math.nan
