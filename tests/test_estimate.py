import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(1200, seed=1).data


def test_estimate_is_the_stream_in_one_call():
    result = sgais.estimate(MODEL, DATA, seed=3)
    evidence = sgais.OnlineEvidence(MODEL, seed=3)
    for chunk in sgais.stream(DATA, 500):
        evidence.update(chunk)
    assert result.log_evidence == evidence.log_evidence
    assert [record.num_rows for record in result.records] == [500, 1000, 1200]
    assert result.method == "sgais"
    assert np.isnan(result.standard_error)
    assert result.particles["weights"].shape == (10, 5)
    assert np.exp(result.log_weights).sum() == pytest.approx(1)
    assert list(result.to_frame().num_rows) == [500, 1000, 1200]


def test_a_result_prints_its_number_and_says_what_it_lacks():
    text = str(sgais.estimate(MODEL, DATA))
    assert text.startswith("log Z = -17")
    assert "(no error estimate), 1200 rows, sgais" in text


def test_an_unknown_method_is_refused():
    with pytest.raises(sgais.ConfigError, match=r"`method` must be one of \('sgais',\), got 'mcmc'"):
        sgais.estimate(MODEL, DATA, method="mcmc")
