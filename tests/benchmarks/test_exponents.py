"""The exponent of a curve, and its figure."""

import pytest

from benchmarks.exponents import draw, exponent


@pytest.mark.parametrize("power", [0.0, 0.5, 2.0])
def test_a_power_is_found(power):
    assert exponent({size: 3.0 * size**power for size in (1, 10, 50)}) == pytest.approx(power, abs=1e-9)


def test_the_figure_says_which(tmp_path):
    figure = draw({1: 1.0, 10: 10.0}, "particles", "seconds")
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("particles", "seconds")
    assert [curve.get_label() for curve in figure.axes[0].lines] == ["measured", "exponent 1.00"]
    figure.savefig(tmp_path / "growth.png")
