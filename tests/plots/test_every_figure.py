"""What all figures keep: they can be saved, read at the width of a column, and marked with shifts."""

from itertools import pairwise

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure
from matplotlib.text import Text
from test_change_points_figure import points

import sgais
from sgais import plots
from sgais.comparison.records import ComparisonRecord, ModelStanding
from sgais.comparison.sensitivity import Evidence, PriorSensitivity
from sgais.plots import style

NAMES = list(plots.__all__)
MARKED = ["annealing", "bayes_factors", "evidence", "probabilities", "weights"]


def sensitivity():
    scales = (0.25, 1.0, 4.0)
    found = {
        name: tuple(Evidence(-100.0 - slope * np.log(scale), 0.1, "reweighted") for scale in scales)
        for name, slope in {"narrow": 1.0, "wide": 3.0}.items()
    }
    return PriorSensitivity(scales, found, {"narrow": 0.0, "wide": 0.0})


def checked():
    generator = np.random.default_rng(0)
    return {
        "posterior_predictive": xarray.Dataset({"y": (("chain", "draw", "row"), generator.normal(size=(2, 50, 200)))}),
        "observed_data": xarray.Dataset({"y": ("row", generator.normal(0.5, 1.0, size=200))}),
    }


@pytest.fixture
def draw(make_records, comparison_records):
    curves = {"three components": make_records(-1.5), "five components": make_records(-1.45)}
    data = np.random.default_rng(0).normal(size=(300, 2))
    arguments = {
        "annealing": (curves,),
        "bayes_factors": (curves,),
        "change_points": (points(),),
        "evidence": (curves,),
        "histograms": (data, [100, 300]),
        "posterior_predictive": (checked(),),
        "prior_sensitivity": (sensitivity(),),
        "probabilities": (comparison_records,),
        "weights": (comparison_records,),
        "speed": ({"sgais": [(1000, 1.0), (2000, 2.0)], "nested": [(2000, 20.0), (1000, 9.0)]},),
    }
    return lambda name, **options: getattr(plots, name)(*arguments[name], **options)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_saved_in_all_formats(name, draw, tmp_path):
    figure = draw(name)
    for ending, start in {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}.items():
        path = tmp_path / f"figure.{ending}"
        figure.savefig(path)
        assert path.read_bytes().startswith(start)
        assert path.stat().st_size > 2000


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_width_of_a_column_and_letters_to_be_read(name, draw):
    figure = draw(name)
    figure.draw_without_rendering()
    assert figure.get_figwidth() == 3.4
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert len(texts) > 5
    assert {text.get_fontsize() for text in texts} <= {7.0, 8.0}


@pytest.mark.parametrize("name", NAMES)
def test_every_axis_says_what_it_is_and_nothing_is_cut_off(name, draw):
    figure = draw(name)
    figure.draw_without_rendering()
    assert any(axes.get_xlabel() for axes in figure.axes)
    assert any(axes.get_ylabel() for axes in figure.axes)
    drawn = figure.get_tightbbox()  # in inches
    assert drawn.x0 >= 0
    assert drawn.y0 >= 0
    assert drawn.x1 <= figure.get_figwidth()
    assert drawn.y1 <= figure.get_figheight()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "histograms"])
def test_the_legend_covers_no_data(name, draw):
    figure = draw(name)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert not axes.get_legend().get_window_extent().overlaps(axes.patch.get_window_extent().padded(-1))


def test_a_long_legend_leaves_the_data_their_room(make_records):
    def height(count):
        (axes,) = plots.evidence(
            {f"a model with a long name, {number}": make_records() for number in range(count)}
        ).axes
        axes.figure.draw_without_rendering()
        return axes.get_window_extent().height

    assert height(12) == pytest.approx(height(1), rel=0.15)


@pytest.mark.parametrize("name", MARKED)
def test_shifts_are_marked_from_top_to_bottom(name, draw):
    (plain,), (marked,) = draw(name).axes, draw(name, alarms=[1000, 10_000]).axes
    (added,) = [artist for artist in marked.collections if artist.get_label() == "shift"]
    np.testing.assert_array_equal([path[:, 0] for path in added.get_segments()], [[1000, 1000], [10_000, 10_000]])
    assert [path[:, 1].tolist() for path in added.get_segments()] == [[0, 1], [0, 1]]
    assert marked.get_ylim() == pytest.approx(plain.get_ylim())
    assert "shift" in [text.get_text() for text in marked.get_legend().get_texts()]
    with pytest.raises(sgais.ConfigError, match="`alarms` must be numbers of rows above 0"):
        draw(name, alarms=[0])


@pytest.mark.parametrize("name", NAMES)
def test_axes_may_be_passed_in(name, draw):
    figure = Figure()
    axes = figure.subplots(1, 3) if name == "histograms" else figure.subplots()
    assert draw(name, axes=axes) is figure
    with pytest.raises(sgais.ConfigError, match="`axes` must be . matplotlib axes"):
        draw(name, axes=figure.subplots(1, 2))


def test_28_curves_are_told_apart():
    styles = [style.line_style(number) for number in range(28)]
    assert len({(one["color"], one["linestyle"]) for one in styles}) == 28
    assert all(one["color"] != other["color"] for one, other in pairwise(styles))
    assert all(one["linestyle"] != other["linestyle"] for one, other in pairwise(styles))


def warned(records):
    """The same records, the last of them with a warning."""
    return [*records[:-1], records[-1]._replace(warning="do not trust it")]


def test_a_legend_says_which_log_z_carries_a_warning(make_records):
    def legend(figure):
        found = figure.axes[0].get_legend()
        return [text.get_text() for text in found.get_texts()] if found else []

    good, bad = make_records(), warned(make_records(-1.6))
    assert legend(plots.evidence(good)) == []
    assert legend(plots.evidence(bad)) == ["beware: see its warning"]
    assert legend(plots.evidence({"a": good, "b": bad})) == ["a", "b (beware: see its warning)"]
    assert "b (beware: see its warning)" in legend(plots.bayes_factors({"a": good, "b": bad}))
    assert "b (beware: see its warning)" in legend(plots.bayes_factors({"a": good, "b": bad}, against="b"))


def test_a_probability_that_rests_on_a_warned_log_z_says_so():
    shares = dict.fromkeys(ModelStanding._fields, 0.5)
    models = {name: ModelStanding(**(shares | {"warning": warning})) for name, warning in (("a", ""), ("b", "bad"))}
    records = [ComparisonRecord(rows, models, 0.0) for rows in (100, 200)]
    for stacked in (True, False):
        legend = plots.probabilities(records, stacked=stacked).axes[0].get_legend()
        assert [text.get_text() for text in legend.get_texts()] == ["a", "b (beware: see its warning)"]
