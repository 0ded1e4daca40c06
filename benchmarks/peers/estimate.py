"""What a method hands back, and what every adapter offers."""

from typing import NamedTuple, Protocol

from benchmarks.peers.target import Target


class Estimate(NamedTuple):
    """The outcome of one run of a method.

    Attributes:
        log_evidence: In nats.
        standard_error: As the method claims it; NaN where it gives none.
        likelihoods: Evaluations over all rows; None where the method does not tell.
        gradients: The same.
        doubt: Why the method does not trust its own result; empty if it does.
    """

    log_evidence: float
    standard_error: float
    likelihoods: int | None = None
    gradients: int | None = None
    doubt: str = ""


class Run(Protocol):
    """A run that is ready to go: what it needs has been compiled as far as that can be done before."""

    def __call__(self) -> Estimate:
        """Do it."""
        ...


class Adapter(Protocol):
    """The module of a method, in `adapters/`: `prepare` makes its run."""

    def prepare(self, target: Target, seed: int, **options: float) -> Run:
        """Compile, and return what is to be timed."""
        ...
