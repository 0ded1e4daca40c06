"""What several methods say of the same evidence: who agrees with whom, and which number to believe."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from sgais.results import rendered
from sgais.results.result import COMPLETE, Result

if TYPE_CHECKING:
    import pandas as pd

FEW_ERRORS = 3.0  # combined errors within which two results agree
SMALL = 0.1  # nats within which they agree in any case: errors are estimates, and nobody decides by less
HEADER = ("method", "log Z", "error", "seconds", "status", "agrees with")


@dataclass(frozen=True)
class Verdict:
    """Independent results for one evidence, held against each other.

    Results that are not complete, or warn of themselves, do not vote. Two voters agree if they differ by at most three
    combined errors or a tenth of a nat. The largest group in which all agree wins, and of it the smallest error is
    believed. Where several groups are as large, only who is in all of them is believed; where nobody agrees with
    anybody, or all voters there are is one, nobody is.

    Attributes:
        results: By method, in the order in which they ran.
        missing: Methods that did not come to run, since the run was interrupted.

    Example:
        >>> data = sgais.simulate.linear_regression(200, dim=2).data
        >>> model = sgais.models.LinearRegression(dim=2)
        >>> verdict = sgais.Verdict({name: sgais.estimate(model, data, method=name) for name in ("sgais", "laplace")})
        >>> verdict.agreement["sgais"], verdict.is_complete
        (('laplace',), True)
    """

    results: Mapping[str, Result]
    missing: tuple[str, ...] = ()

    @cached_property
    def voters(self) -> tuple[str, ...]:
        """The methods whose results count: complete, with a number, and with nothing known against it."""
        return tuple(name for name, one in self.results.items() if one.is_complete and math.isfinite(one.log_evidence))

    @cached_property
    def agreement(self) -> dict[str, tuple[str, ...]]:
        """Who agrees with whom: for every method, the others; nobody for one that does not vote."""
        return {
            name: tuple(other for other in self.voters if other != name and self._agree(name, other))
            if name in self.voters
            else ()
            for name in self.results
        }

    @cached_property
    def believe(self) -> Result | None:
        """The result to believe; None if none should be."""
        winners = self._winners
        return self.results[min(winners, key=self._error)] if winners else None

    @property
    def is_complete(self) -> bool:
        """Whether there is a number to believe."""
        return self.believe is not None

    @property
    def status(self) -> str:
        """What a `Result` would say: "complete", or why no number should be believed."""
        return COMPLETE if self.is_complete else f"not to be trusted: {self._why_nobody()}"

    @property
    def log_evidence(self) -> float:
        """Log Z of the result to believe; without one, the best there is (see `status`), NaN if there is nothing."""
        best = self._best
        return best.log_evidence if best else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the result to believe; NaN without one, since then nobody knows."""
        return self.believe.standard_error if self.believe else math.nan

    @property
    def verdict(self) -> str:
        """One sentence: who agrees with whom, and which number to believe and why."""
        if self.believe is None:
            best = self._best
            number = "" if best is None else f" The best there is: {best.log_evidence:.2f} ({best.method})."
            return f"Believe none of them: {self._why_nobody()}.{number}"
        name, error = self.believe.method, self._error(self.believe.method)
        number = f"{self.believe.log_evidence:.2f} ± {error:.2f}"
        reason = f"{_listed([name, *self.agreement[name]])} agree, and {name} has the smallest error"
        if len(self._largest_groups) > 1:
            reason = f"{name} agrees with {_listed(self.agreement[name])}, which do not all agree with each other"
        return f"Believe {name}, log Z = {number}: {reason}{self._dissent()}."

    def to_frame(self) -> "pd.DataFrame":
        """One row per method; `error` has all parts of the error budget in it, `standard_error` may not."""
        import pandas as pd  # slow to import

        lines = [
            {
                "method": name,
                "log_evidence": one.log_evidence,
                "standard_error": one.standard_error,
                "error": self._error(name),
                "seconds": one.seconds,
                "num_rows": one.num_rows,
                "status": one.status,
                "agrees_with": " ".join(self.agreement[name]),
                "is_believed": one is self.believe,
            }
            for name, one in self.results.items()
        ]
        return pd.DataFrame(lines)

    def _repr_html_(self) -> str:
        return rendered.block(str(self))

    def __str__(self) -> str:
        lines = _aligned([HEADER, *(self._cells(name) for name in self.results)])
        beware = [f"BEWARE of {name}: {one.status}." for name, one in self.results.items() if not one.is_complete]
        missing = [f"Not run: {_listed(self.missing)}."] if self.missing else []
        return "\n".join([*lines, *beware, *missing, self.verdict])

    @cached_property
    def _largest_groups(self) -> list[frozenset[str]]:
        """The largest groups of two or more voters in which all agree with each other."""
        for size in range(len(self.voters), 1, -1):
            groups = [
                frozenset(some)
                for some in combinations(self.voters, size)
                if all(self._agree(*pair) for pair in combinations(some, 2))
            ]
            if groups:
                return groups
        return []

    @property
    def _winners(self) -> list[str]:
        """In the order of the voters, so that equal errors do not leave the choice to chance."""
        groups = self._largest_groups
        return [name for name in self.voters if groups and all(name in group for group in groups)]

    @property
    def _best(self) -> Result | None:
        """The result to believe, or else the one with the least against it."""
        if self.believe is not None:
            return self.believe
        known = [name for name, one in self.results.items() if math.isfinite(one.log_evidence)]
        if not known:
            return None
        return self.results[min(known, key=lambda name: (name not in self.voters, self._error(name)))]

    def _agree(self, first: str, second: str) -> bool:
        difference = abs(self.results[first].log_evidence - self.results[second].log_evidence)
        errors = [error for error in (self._error(first), self._error(second)) if math.isfinite(error)]
        return difference <= max(SMALL, FEW_ERRORS * math.hypot(*errors))

    def _error(self, name: str) -> float:
        """With all that the method knows to be uncertain; infinite where it does not know."""
        one = self.results[name]
        error = math.hypot(*one.error_budget.values()) if one.error_budget else one.standard_error
        return math.inf if math.isnan(error) else error

    def _why_nobody(self) -> str:
        if not self.voters:
            return "none came through without a warning"
        if len(self.voters) == 1:
            return f"only {self.voters[0]} came through without a warning, and nothing confirms it"
        if self._largest_groups:
            camps = [f"({_listed([name for name in self.voters if name in group])})" for group in self._largest_groups]
            return f"{_listed(camps)} agree among themselves, but not with each other"
        return f"{_listed(self.voters)} all disagree"

    def _dissent(self) -> str:
        """Voters that say something else; more evidence may be a mode that the others have missed."""
        assert self.believe is not None, "there is something to dissent from"
        said = []
        for name in self.voters:
            if name != self.believe.method and name not in self.agreement[self.believe.method]:
                more = self.results[name].log_evidence - self.believe.log_evidence
                hint = ", perhaps from a mode that the others miss" if more > 0 else ""
                said.append(f"{name} disagrees by {more:+.2f}{hint}")
        return "; " + "; ".join(said) if said else ""

    def _cells(self, name: str) -> tuple[str, ...]:
        one, error = self.results[name], self._error(name)
        known = f"{one.log_evidence:.2f}" if math.isfinite(one.log_evidence) else "?"
        return (
            name,
            known if one.is_complete else f"{known} !",
            f"{error:.2f}" if math.isfinite(error) else "?",
            f"{one.seconds:.1f}",
            _in_a_word(one.status),
            ", ".join(self.agreement[name]) or ("nobody" if name in self.voters else "no vote"),
        )


def _in_a_word(status: str) -> str:
    """The status, whose text is said below the table."""
    if status == COMPLETE:
        return status
    return next((word for word in ("failed", "interrupted") if status.startswith(word)), "warning")


def _listed(names: "tuple[str, ...] | list[str]") -> str:
    """Names as in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Columns under each other, numbers to the right."""
    widths = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if number in (1, 2, 3) else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
