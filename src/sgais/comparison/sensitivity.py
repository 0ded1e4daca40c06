"""What becomes of evidences and probabilities under wider and narrower priors of the coefficients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sgais.approximation.pareto import LARGEST_TRUSTED, tail_shape
from sgais.comparison.probabilities import with_bands
from sgais.errors import ConfigError, is_number, require
from sgais.models.reading import Reading
from sgais.online import OnlineEvidence

if TYPE_CHECKING:
    import pandas as pd

NUM_SCALES = 9
ROWS_PER_CHUNK = 500  # of a run that is taken anew
SMALLEST_ESS = 50.0  # of particles that another prior has reweighted
AS_IT_IS, REWEIGHTED, ANEW, UNKNOWN = "as it is", "reweighted", "taken anew", "unknown"


class Evidence(NamedTuple):
    """Log Z under one prior.

    Attributes:
        log_evidence: NaN where nobody knows.
        standard_error: Of it.
        how: "as it is", "reweighted" (the particles, by the ratio of the priors), "taken anew" (from all rows), or
            "unknown".
    """

    log_evidence: float
    standard_error: float
    how: str


@dataclass(frozen=True)
class PriorSensitivity:
    """Evidences and probabilities over scales of the prior.

    Attributes:
        scales: How many times as wide as they are the priors of the coefficients are made, in all models alike.
        evidences: By model, for each of the scales.
        log_odds: The logs of the prior odds by model.
    """

    scales: tuple[float, ...]
    evidences: Mapping[str, tuple[Evidence, ...]]
    log_odds: Mapping[str, float]

    def to_frame(self) -> "pd.DataFrame":
        """One row per scale and model: log Z, its error, how it was found, probability with its band."""
        import pandas as pd  # slow to import

        lines: list[dict[str, Any]] = []
        names = list(self.evidences)
        for number, scale in enumerate(self.scales):
            found = [self.evidences[name][number] for name in names]
            posteriors = np.array(
                [self.log_odds[name] + one.log_evidence for name, one in zip(names, found, strict=True)]
            )
            bands = with_bands(posteriors, np.array([one.standard_error for one in found]))
            for name, one, (probability, low, high) in zip(names, found, zip(*bands, strict=True), strict=True):
                probabilities = {"probability": probability, "low": low, "high": high}
                lines.append({"scale": scale, "model": name, **one._asdict(), **probabilities})
        return pd.DataFrame(lines)

    def __str__(self) -> str:
        """The probabilities, a line per scale, and whether the leader stays the same."""
        frame = self.to_frame()
        table = frame.pivot(index="scale", columns="model", values="probability")[list(self.evidences)]
        leaders = list(dict.fromkeys(table.idxmax(axis=1)))
        verdict = (
            f"{leaders[0]} leads at every scale."
            if len(leaders) == 1
            else f"The leader changes with the scale: {', '.join(map(str, leaders))}."
        )
        return f"{table.to_string(float_format=lambda value: f'{value:.4g}')}\n{verdict}"


def prior_sensitivity(
    members: Mapping[str, OnlineEvidence], log_odds: Mapping[str, float], ends: Sequence[float], num_scales: int
) -> PriorSensitivity:
    """Take log Z of every model at scales between the ends."""
    are_ends = len(ends) == 2 and all(map(is_number, ends)) and 0 < ends[0] <= 1 <= ends[1]
    require(are_ends, "scale", "be two positive numbers with 1 between them", ends)
    other = next((name for name, one in members.items() if not hasattr(one.model, "with_prior_scale")), None)
    if other is not None:
        raise ConfigError(
            f"`models` must know how to widen their priors, got {other!r}. Use sgais.glm, or compare "
            "models that you have given other priors."
        )
    between = [float(f"{scale:.10g}") for scale in np.geomspace(ends[0], ends[1], num_scales)]
    scales = tuple(sorted({1.0, *between}))
    found = {name: tuple(_evidence(member, scale) for scale in scales) for name, member in members.items()}
    return PriorSensitivity(scales, found, {name: log_odds[name] for name in members})


def _evidence(member: OnlineEvidence, scale: float) -> Evidence:
    if scale == 1.0:
        return Evidence(member.log_evidence, member.standard_error, AS_IT_IS)
    model: Any = member.model  # a formula
    wider = model.with_prior_scale(scale)
    assert member.reader is not None, "there are rows"
    reader = wider.restored_reader(member.reader.state())
    log_ratios = member.log_prior_ratios(reader.model)
    log_terms = member.log_weights + log_ratios
    change = float(np.logaddexp.reduce(log_terms))
    shares = np.exp(log_terms - change)
    if tail_shape(log_terms) < LARGEST_TRUSTED and 1 / np.sum(shares**2) > SMALLEST_ESS:
        weights = np.exp(member.log_weights)
        error = float(np.linalg.norm(shares - weights))
        return Evidence(member.log_evidence + change, float(np.hypot(member.standard_error, error)), REWEIGHTED)
    rows = member.kept_rows()
    if rows is None:
        return Evidence(float("nan"), float("inf"), UNKNOWN)
    again = OnlineEvidence(wider, member.config, member.seed)
    for start in range(0, member.num_rows, ROWS_PER_CHUNK):
        again.update(Reading(reader, {name: values[start : start + ROWS_PER_CHUNK] for name, values in rows.items()}))
    return Evidence(again.log_evidence, again.standard_error, ANEW)
