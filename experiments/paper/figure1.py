"""Figure 1: histograms of the data whose distribution shifts. Drawn from the data themselves, which a seed makes."""

from matplotlib.figure import Figure

import sgais
from experiments.paper.problems import IN_ORDER, change_points, simulation_of

CLAIM = (
    "The first 1000 observations come from 3 Gaussians, the next 9000 from 5, the remaining 90,000 from 7. Some of the "
    "clusters overlap, so that it is not immediately obvious how many there are."
)
SIZE = (7.4, 7.0)


def draw(num_rows: int) -> Figure:
    """Three phases, and all rows."""
    data = simulation_of(IN_ORDER, num_rows).data
    figure = sgais.plots.histograms(data, (*change_points(num_rows), num_rows))
    figure.set_size_inches(*SIZE)
    return figure
