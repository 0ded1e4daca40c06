import numpy as np
import pytest

from sgais.results.summary import summary_of, with_error


def test_weighted_moments_and_quantiles():
    draws = np.random.default_rng(0).normal(size=(20_000, 2)) * [1.0, 3.0]
    log_weights = draws[:, 0] - np.logaddexp.reduce(draws[:, 0])  # moves the first to a mean of one
    found = summary_of({"a": draws, "b": np.ones(20_000)}, log_weights)
    assert list(found.index) == ["a[0]", "a[1]", "b"]
    assert found.loc["a[0]", "mean"] == pytest.approx(1.0, abs=0.05)
    assert found.loc["a[1]", "sd"] == pytest.approx(3.0, rel=0.05)
    assert found.loc["a[0]", "95%"] == pytest.approx(1 + 1.645, abs=0.1)
    assert found.loc["b"].tolist() == pytest.approx([1.0, 0.0, 1.0, 1.0, 1.0], abs=1e-9)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (-1209.0912, 0.0312, "-1209.091 ± 0.031"),
        (-12.0, 1.26, "-12.0 ± 1.3"),
        (3.0, 0.0, "3.00"),
        (2.5, np.nan, "2.50"),
    ],
)
def test_a_number_has_the_digits_that_its_error_leaves(value, error, text):
    assert with_error(value, error) == text
