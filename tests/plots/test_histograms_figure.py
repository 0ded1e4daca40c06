import numpy as np
import pytest

import sgais
from sgais import plots, simulate

VALUES = np.random.default_rng(1).normal(size=4000)


def test_a_panel_for_each_phase_and_one_for_all():
    figure = plots.histograms({"y": np.concatenate([VALUES[:1000], VALUES[1000:] + 3])}, [1000, 4000])
    first, second, both = figure.axes
    assert [panel.get_title() for panel in figure.axes] == ["rows 1 to 1,000", "rows 1,001 to 4,000", "all 4,000 rows"]

    def mean(panel):
        heights = np.array([bar.get_height() for bar in panel.patches])
        return heights @ [bar.get_x() + bar.get_width() / 2 for bar in panel.patches] / heights.sum()

    assert mean(first) == pytest.approx(0.0, abs=0.15)
    assert mean(second) == pytest.approx(3.0, abs=0.15)
    assert mean(both) == pytest.approx(2.25, abs=0.15)


def test_pairs_are_shown_as_density_over_the_same_plane():
    simulation = simulate.shifting_mixture((100, 200, 300))
    figure = plots.histograms(simulation.data, simulation.parameters["phase_ends"])
    assert len(figure.axes) == 4
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in figure.axes}) == 1
    assert all(panel.collections[0].get_array().size == 50 * 50 for panel in figure.axes)
    assert figure.axes[3].get_xlabel() == "y[0]"
    assert figure.axes[0].get_ylabel() == "y[1]"


def test_the_lowest_panel_of_each_column_has_numbers_where_their_number_is_odd():
    figure = plots.histograms(VALUES, [1000, 4000])
    figure.draw_without_rendering()
    assert [panel.get_xlabel() for panel in figure.axes] == ["", "y", "y"]
    numbered = [any(label.get_visible() for label in panel.get_xticklabels()) for panel in figure.axes]
    assert numbered == [False, True, True]


def test_one_phase_is_one_panel():
    (panel,) = plots.histograms(VALUES, [1000]).axes
    assert panel.get_title() == "all 1,000 rows"


@pytest.mark.parametrize("ends", [[], [0, 10], [20, 10], [10, 4001]])
def test_ends_rise_to_the_number_of_rows(ends):
    with pytest.raises(sgais.ConfigError, match="`ends` must rise from above 0 to at most 4000"):
        plots.histograms(VALUES, ends)


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(sgais.ConfigError, match="`data` must have one or two numbers per row, got \\(3,\\)"):
        plots.histograms(np.zeros((10, 3)), [10])
    with pytest.raises(sgais.ConfigError, match="`column` must be one of \\['y'\\], got 'x'"):
        plots.histograms(VALUES, [10], column="x")


def test_data_that_never_change_can_be_drawn(tmp_path):
    plots.histograms(np.ones(20), [20]).savefig(tmp_path / "constant.png")
