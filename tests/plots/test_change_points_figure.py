from types import SimpleNamespace

import numpy as np

from sgais import plots
from sgais.changepoints import Segment


def points(models=("model", "model", "model")):
    starts = [0, 200, 350, 500]
    segments = [Segment(start, end, model, 0.9) for start, end, model in zip(starts, starts[1:], models, strict=False)]
    return SimpleNamespace(
        borders=np.arange(50, 500, 50), probability=np.linspace(0.0, 1.0, 9), segments=segments, num_rows=500
    )


def test_every_border_has_a_stem_and_every_segment_an_area():
    (axes,) = plots.change_points(points()).axes
    stems = np.array(axes.collections[0].get_segments())
    np.testing.assert_array_equal(stems[:, 1, 0], np.arange(50, 500, 50))
    np.testing.assert_allclose(stems[:, 1, 1], np.linspace(0.0, 1.0, 9))
    assert [area.get_x() for area in axes.patches] == [0, 200, 350]
    assert axes.patches[0].get_facecolor() != axes.patches[1].get_facecolor()


def test_models_have_a_colour_and_a_name_and_a_series_a_panel():
    above, below = plots.change_points(points(("calm", "wild", "calm")), series=np.zeros(500)).axes
    assert below.patches[0].get_facecolor() == below.patches[2].get_facecolor()
    assert {text.get_text() for text in above.get_legend().get_texts()} == {"calm", "wild"}
