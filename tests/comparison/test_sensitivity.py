"""Evidences under wider and narrower priors, against those of the normal-inverse-gamma prior, which are exact."""

import numpy as np
import pytest

import sgais
from sgais.models.formula.conjugate import log_evidence

GENERATOR = np.random.default_rng(7)
ROWS = {"x": GENERATOR.normal(size=200), "z": GENERATOR.normal(size=200)}
ROWS["y"] = 0.4 * ROWS["x"] + GENERATOR.normal(size=200)
MODELS = {"x": sgais.glm("y ~ x", priors="conjugate"), "both": sgais.glm("y ~ x + z", priors="conjugate")}


@pytest.fixture(scope="module")
def comparison():
    comparison = sgais.Comparison(MODELS)
    comparison.update(ROWS)
    return comparison


def test_reweighted_evidences_are_those_of_other_priors(comparison):
    found = comparison.prior_sensitivity(scale=(1 / 4, 4), num_scales=5)
    assert found.scales == pytest.approx((0.25, 0.5, 1.0, 2.0, 4.0))
    for name, model in MODELS.items():
        reader = model.reader(ROWS)
        exact = [log_evidence(reader.model, reader.read(ROWS), scale) for scale in found.scales]
        for one, truth in zip(found.evidences[name], exact, strict=True):
            assert one.how in ("as it is", "reweighted", "taken anew")
            assert abs(one.log_evidence - truth) < 4 * one.standard_error + 0.02, (name, one, truth)
    frame = found.to_frame()
    assert np.allclose(frame.groupby("scale")["probability"].sum(), 1.0)
    assert "The leader changes with the scale: both, x." in str(found)


def test_a_prior_that_the_particles_know_nothing_of_takes_all_rows_anew(comparison):
    found = comparison.prior_sensitivity(scale=(1 / 100, 1), num_scales=2)
    reader = MODELS["x"].reader(ROWS)
    narrow = found.evidences["x"][0]
    assert narrow.how == "taken anew"
    truth = log_evidence(reader.model, reader.read(ROWS), 1 / 100)
    assert abs(narrow.log_evidence - truth) < 4 * narrow.standard_error + 0.02


def test_a_comparison_is_shown_as_people_write_it(comparison):
    assert "| x | " in comparison.to_markdown()
    assert r"\begin{tabular}{lrrr}" in comparison.to_latex()
    assert comparison._repr_html_().startswith("<table>")
    summary = comparison.summary()
    slope, *_ = np.polyfit(ROWS["x"], ROWS["y"], 1)
    assert summary.loc[("x", "x"), "mean"] == pytest.approx(slope, abs=0.02)


def test_the_figure_has_a_line_and_a_band_for_each_model(comparison):
    figure = sgais.plots.prior_sensitivity(comparison.prior_sensitivity(num_scales=3))
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["x", "both"]
    assert len(panel.collections) == 2


def test_what_cannot_be_varied_is_refused(comparison):
    with pytest.raises(sgais.ConfigError, match="`scale` must be two positive numbers with 1 between them"):
        comparison.prior_sensitivity(scale=(2, 4))
    plain = sgais.Comparison({"a": sgais.models.LinearRegression(dim=1), "b": sgais.models.LinearRegression(dim=1)})
    with pytest.raises(sgais.ConfigError, match="have come before"):
        plain.prior_sensitivity()
