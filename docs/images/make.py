"""Makes the pictures of docs/plots.md and of docs/change-points.md (a few minutes).

Those of plots.md are of mixtures of 3, 5 and 7 Gaussians on data that change twice.
"""

from pathlib import Path

import numpy as np

import sgais

HERE = Path(__file__).parent


def main() -> None:
    """Stream the data of section 6.2 of the paper through three models, find change points, and draw."""
    simulation = sgais.simulate.shifting_mixture()
    ends = simulation.parameters["phase_ends"]
    curves = {f"{count} components": _curve(simulation.data, count) for count in (3, 5, 7)}
    shifts = ends[:-1].tolist()
    sgais.plots.histograms(simulation.data, ends).savefig(HERE / "histograms.png")
    sgais.plots.evidence(curves, alarms=shifts).savefig(HERE / "evidence.png")
    sgais.plots.bayes_factors(curves, alarms=shifts).savefig(HERE / "bayes_factors.png")
    sgais.plots.annealing(curves, alarms=shifts).savefig(HERE / "annealing.png")
    _change_points()


def _change_points() -> None:
    """The example with several models."""
    noise = np.random.default_rng(1).normal(size=400) * np.where(np.arange(400) // 100 == 2, 3.0, 1.0)
    scales = {"calm": 1.0, "wild": 3.0}
    models = {name: sgais.models.LinearRegression(dim=1, noise_scale=scale) for name, scale in scales.items()}
    points = sgais.ChangePoints(models, hazard=1 / 200, prior_odds={"calm": 2.0, "wild": 1.0})
    points.run(sgais.stream({"x": np.ones((400, 1)), "y": noise}, chunk_size=20))
    sgais.plots.change_points(points, series=noise).savefig(HERE / "change-points.png")


def _curve(data: object, components: int) -> tuple[sgais.EvidenceRecord, ...]:
    model = sgais.models.GaussianMixture(components=components, dim=2)
    evidence = sgais.OnlineEvidence(model, sgais.Config.paper(), seed=components)
    evidence.run(sgais.stream(data, chunk_size=500))
    return evidence.records


if __name__ == "__main__":
    main()
