import importlib

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=5)
DATA = simulate.linear_regression(1200, seed=1).data
estimate_module = importlib.import_module("sgais.estimate")  # the package has a function of that name


def test_estimate_is_the_stream_in_one_call():
    result = sgais.estimate(MODEL, DATA, seed=3, shuffle=False)
    evidence = sgais.OnlineEvidence(MODEL, seed=3)
    for chunk in sgais.stream(DATA, 500):
        evidence.update(chunk)
    assert result.log_evidence == evidence.log_evidence
    assert [record.num_rows for record in result.records] == [500, 1000, 1200]
    assert result.method == "sgais"
    assert result.standard_error == evidence.standard_error
    assert result.error_budget == evidence.error_budget
    assert result.particles["weights"].shape == (384, 5)
    assert np.exp(result.log_weights).sum() == pytest.approx(1)
    assert list(result.to_frame().num_rows) == [500, 1000, 1200]


def test_a_result_prints_its_number_and_says_what_it_lacks():
    assert "± ? Monte Carlo ± " in str(sgais.estimate(MODEL, DATA, config=sgais.Config.paper()))
    assert " Monte Carlo ± 0.00 kernel, 1200 rows, sgais" in str(sgais.estimate(MODEL, DATA))


def test_an_unknown_method_is_refused():
    names = r"\['ais', 'laplace', 'nested', 'sgais'\] or 'all'"
    with pytest.raises(sgais.ConfigError, match=f"`method` must be one of {names}, got 'mcmc'"):
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

    result = estimate_module.METHODS["sgais"].run(MODEL, DATA, sgais.Config(), 0, interrupt)
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


def test_rows_are_shuffled_as_the_seed_says():
    """In order, the first chunk has never seen what the last one has; shuffled, every chunk is like all rows."""
    in_order = {name: values[np.argsort(DATA["y"])] for name, values in DATA.items()}
    shuffled, again = (sgais.estimate(MODEL, in_order, seed=3) for _ in range(2))
    assert shuffled.log_evidence == again.log_evidence
    assert sgais.estimate(MODEL, in_order, seed=4).log_evidence != shuffled.log_evidence
    untouched = sgais.estimate(MODEL, in_order, seed=3, shuffle=False)
    first = [result.records[0].log_evidence / 500 for result in (shuffled, untouched)]
    assert first[0] == pytest.approx(MODEL.log_evidence(DATA) / 1200, abs=0.1)
    assert abs(first[0] - first[1]) > 0.1
    assert shuffled.log_evidence == pytest.approx(MODEL.log_evidence(in_order), abs=4 * shuffled.standard_error)


def test_shuffling_loses_no_row():
    parts = list(estimate_module._parts({"y": np.arange(10)}, 4, np.random.default_rng(0).permutation(10)))
    assert [len(part["y"]) for part in parts] == [4, 4, 2]
    assert sorted(np.concatenate([part["y"] for part in parts])) == list(range(10))


def test_the_published_algorithm_takes_rows_as_they_come_unless_told_otherwise():
    config = sgais.Config.paper()
    default, in_order, shuffled = (
        sgais.estimate(MODEL, DATA, config=config, shuffle=shuffle).log_evidence for shuffle in (None, False, True)
    )
    assert default == in_order != shuffled


def test_a_warning_is_in_the_status_also_of_a_run_that_was_interrupted(monkeypatch):
    monkeypatch.setattr(sgais.OnlineEvidence, "warning", property(lambda _: "islands have diverged"))
    config = sgais.Config.paper()
    assert sgais.estimate(MODEL, DATA, config=config).status == "not to be trusted: islands have diverged"

    def interrupt(_):
        raise KeyboardInterrupt

    status = estimate_module.METHODS["sgais"].run(MODEL, DATA, config, 0, interrupt).status
    assert status.startswith("interrupted after 500 of 1200 rows; ")
    assert status.endswith("not to be trusted: islands have diverged")


SMALL_MODEL = LinearRegression(dim=1)
SMALL = simulate.linear_regression(300, dim=1, seed=1).data
QUICK = {"nested": sgais.NestedConfig(num_live=60, num_replaced=12)}


def test_all_methods_agree_on_an_evidence_that_is_known():
    verdict = sgais.estimate(SMALL_MODEL, SMALL, method="all", config=QUICK)
    assert list(verdict.results) == ["sgais", "laplace", "ais", "nested"]
    assert verdict.agreement["sgais"] == ("laplace", "ais", "nested")
    assert verdict.believe is verdict.results["laplace"]
    assert verdict.log_evidence == pytest.approx(SMALL_MODEL.log_evidence(SMALL), abs=0.01)
    assert all(result.seconds > 0 for result in verdict.results.values())
    assert verdict.results["sgais"].log_evidence == sgais.estimate(SMALL_MODEL, SMALL).log_evidence


def test_a_method_that_is_wrong_is_outvoted():
    wrong = {"ais": sgais.AISConfig.paper(num_particles=2)}
    verdict = sgais.estimate(SMALL_MODEL, SMALL, method="all", config=QUICK | wrong)
    assert verdict.results["ais"].is_complete, "it does not know"
    assert verdict.agreement["ais"] == ()
    assert verdict.log_evidence == pytest.approx(SMALL_MODEL.log_evidence(SMALL), abs=0.01)
    assert "ais disagrees by -" in verdict.verdict


def method(name, log_evidence, wrong=None):
    def run(*_):
        if wrong is not None:
            raise wrong
        return sgais.Result(name, log_evidence, 0.1, (), {}, np.empty(0), 1200, 0.1)

    return estimate_module.Method((sgais.AISConfig,), run)


@pytest.fixture
def made_up(monkeypatch):
    """Methods that only say what they are told to."""

    def install(**wrong):
        methods = {name: method(name, -10.0, wrong.get(name)) for name in ("laplace", "ais", "nested")}
        monkeypatch.setattr(estimate_module, "METHODS", methods)
        monkeypatch.setattr(estimate_module, "ORDER", tuple(methods))

    return install


def test_a_method_that_fails_is_a_line_of_the_table(made_up):
    made_up(ais=ValueError("no luck today."))
    verdict = sgais.estimate(MODEL, DATA, method="all")
    assert verdict.results["ais"].status == "failed: ValueError: no luck today"
    assert verdict.agreement == {"laplace": ("nested",), "ais": (), "nested": ("laplace",)}
    assert verdict.is_complete


def test_ctrl_c_keeps_the_methods_that_are_done(made_up):
    made_up(ais=KeyboardInterrupt())
    verdict = sgais.estimate(MODEL, DATA, method="all")
    assert list(verdict.results) == ["laplace", "ais"]
    assert verdict.missing == ("nested",)
    assert verdict.log_evidence == -10.0
    assert not verdict.is_complete
    assert "Not run: nested." in str(verdict)


def test_all_methods_have_a_time_limit_each_and_say_which_of_them_runs(made_up, capsys, monkeypatch):
    made_up()
    limits = []
    run = method("ais", -10.0).run
    noting = estimate_module.Method((sgais.AISConfig,), lambda *given: limits.append(given[2].max_seconds) or run())
    monkeypatch.setitem(estimate_module.METHODS, "ais", noting)
    sgais.estimate(MODEL, DATA, method="all", max_seconds=7.0, progress=True)
    sgais.estimate(MODEL, DATA, method="ais", max_seconds=8.0)
    assert limits == [7.0, 8.0]
    assert "ais (2 of 3)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "all", "config": sgais.Config()}, "`config` must be a dictionary of configs by method"),
        ({"method": "all", "config": {"mcmc": 1}}, r"`config` must have keys among .*, got \['mcmc'\]"),
        ({"method": "all", "config": {"ais": 1}}, r"`config\['ais'\]` must be a sgais.AISConfig, got 1"),
        ({"max_seconds": 3.0}, '`max_seconds` must be None for "sgais", got 3.0'),
        ({"method": "ais", "max_seconds": -1}, "`max_seconds` must be None or positive, got -1"),
        ({"shuffle": "yes"}, "`shuffle` must be True, False or None, got 'yes'"),
    ],
)
def test_what_all_methods_refuse(options, says):
    with pytest.raises(sgais.ConfigError, match=says):
        sgais.estimate(MODEL, DATA, **options)
