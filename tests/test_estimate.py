import importlib

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
    assert result.standard_error == evidence.standard_error
    assert result.error_budget == evidence.error_budget
    assert result.particles["weights"].shape == (512, 5)
    assert np.exp(result.log_weights).sum() == pytest.approx(1)
    assert list(result.to_frame().num_rows) == [500, 1000, 1200]


def test_a_result_prints_its_number_and_says_what_it_lacks():
    assert "± ? Monte Carlo ± " in str(sgais.estimate(MODEL, DATA, config=sgais.Config.paper()))
    assert " Monte Carlo ± 0.00 kernel, 1200 rows, sgais" in str(sgais.estimate(MODEL, DATA))


def test_an_unknown_method_is_refused():
    with pytest.raises(
        sgais.ConfigError, match=r"`method` must be one of \['ais', 'laplace', 'nested', 'sgais'\], got 'mcmc'"
    ):
        sgais.estimate(MODEL, DATA, method="mcmc")


def test_a_config_of_another_method_is_refused():
    with pytest.raises(sgais.ConfigError, match="`config` must be a sgais.Config, got 3"):
        sgais.estimate(MODEL, DATA, config=3)


def test_the_progress_bar_ends_at_the_whole(capsys):
    sgais.estimate(MODEL, DATA, progress=True)
    assert "100%" in capsys.readouterr().out


def test_ctrl_c_returns_what_there_is():
    """The interrupt comes when the second chunk has been reported."""

    def interrupt(progress):
        if progress.fraction > 0.8:
            raise KeyboardInterrupt

    run = importlib.import_module("sgais.estimate").METHODS["sgais"].run
    result = run(MODEL, DATA, sgais.Config(), 0, interrupt)
    assert not result.is_complete
    assert "interrupted after 1000 of 1200 rows" in str(result)
    assert result.log_evidence == result.records[-1].log_evidence


def test_draws_have_equal_weight_and_arviz_reads_them():
    import arviz

    result = sgais.estimate(MODEL, DATA, config=sgais.Config.paper(num_particles=50))
    weights = np.exp(result.log_weights)
    mean = weights @ result.particles["bias"]
    assert abs(result.draws(10_000)["bias"].mean() - mean) < 1e-3 * np.ptp(result.particles["bias"])
    data = result.to_arviz()
    assert data.posterior["weights"].shape == (1, 50, 5)
    assert data.posterior.attrs["log_evidence"] == result.log_evidence
    assert len(arviz.summary(data, kind="stats")) == 6
