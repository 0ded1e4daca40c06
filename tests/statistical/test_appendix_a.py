"""Appendix A of the paper, smaller: nested sampling and AIS share no idea, so where they agree both are right."""

import numpy as np
import pytest

import sgais

RUNS = 5  # with three, one pair of bands in ten would miss each other by chance; with five, one in a hundred
MODEL = sgais.models.GaussianMixture(components=3, dim=1)
DATA = sgais.simulate.gaussian_mixture(1000, components=3, dim=1).data["y"]


def runs(method, rows):
    """Log evidences and their standard errors, (runs,) each; the methods share no seed."""
    first = rows + RUNS * (method == "ais")
    results = [sgais.estimate(MODEL, DATA[:rows], method=method, seed=first + index) for index in range(RUNS)]
    assert all(result.is_complete for result in results)
    return np.array([result.log_evidence for result in results]), np.array([r.standard_error for r in results])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [100, 300, 1000])
def test_nested_sampling_and_annealed_importance_sampling_agree(rows):
    nested, nested_errors = runs("nested", rows)
    annealed, annealed_errors = runs("ais", rows)
    error = np.sqrt(np.mean(nested_errors**2 + annealed_errors**2) / RUNS)
    assert abs(nested.mean() - annealed.mean()) < 3.5 * error
    assert max(nested.min(), annealed.min()) <= min(nested.max(), annealed.max()), (
        "the bands of minimum and maximum meet"
    )
