"""Figures from records: records in, figure out. One figure per file, at the size of a paper's column."""

from sgais.plots.annealing import annealing
from sgais.plots.bayes_factors import bayes_factors
from sgais.plots.change_points import change_points
from sgais.plots.evidence import evidence
from sgais.plots.histograms import histograms
from sgais.plots.posterior_predictive import posterior_predictive
from sgais.plots.prior_sensitivity import prior_sensitivity
from sgais.plots.probabilities import probabilities
from sgais.plots.speed import speed
from sgais.plots.weights import weights

__all__ = [
    "annealing",
    "bayes_factors",
    "change_points",
    "evidence",
    "histograms",
    "posterior_predictive",
    "prior_sensitivity",
    "probabilities",
    "speed",
    "weights",
]
