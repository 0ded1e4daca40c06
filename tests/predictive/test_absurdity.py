"""A model whose rows are what it would never make says so; one that fits, or has one odd row, does not."""

import numpy as np

import sgais
from sgais.models import LinearRegression

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(240, 1)).astype(np.float32)
NOISE = GENERATOR.normal(size=240)
ABSURD = "absurd by the model's own predictive"


def rows(scale):
    return {"x": X, "y": (X[:, 0] + scale * NOISE).astype(np.float32)}


def test_a_noise_scale_far_too_small_warns_from_the_first_chunk_on_and_everywhere():
    """Under a scale of 1 instead of 300, the median row is 0.23 * 300^2 = 20,000 nats less probable."""
    comparison = sgais.Comparison({"paper's": LinearRegression(1)})
    for start in (0, 120):
        chunk = {name: values[start : start + 120] for name, values in rows(300.0).items()}
        assert ABSURD in comparison.update(chunk).models["paper's"].warning
    assert ABSURD in str(comparison)


def test_what_fits_or_has_one_odd_row_does_not_warn():
    odd = rows(1.0)
    odd["y"][3] = 150.0  # 11,000 nats, less than an outlier
    evidence = sgais.OnlineEvidence(LinearRegression(1))
    assert ABSURD not in evidence.update(odd).warning
