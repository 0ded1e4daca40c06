"""Makes the pictures of docs/plots.md: mixtures of 3, 5 and 7 Gaussians on data that change twice (a few minutes)."""

from pathlib import Path

import sgais

HERE = Path(__file__).parent


def main() -> None:
    """Stream the data of section 6.2 of the paper through three models, and draw."""
    simulation = sgais.simulate.shifting_mixture()
    ends = simulation.parameters["phase_ends"]
    curves = {f"{count} components": _curve(simulation.data, count) for count in (3, 5, 7)}
    shifts = ends[:-1].tolist()
    sgais.plots.histograms(simulation.data, ends).savefig(HERE / "histograms.png")
    sgais.plots.evidence(curves, alarms=shifts).savefig(HERE / "evidence.png")
    sgais.plots.bayes_factors(curves, alarms=shifts).savefig(HERE / "bayes_factors.png")
    sgais.plots.annealing(curves, alarms=shifts).savefig(HERE / "annealing.png")


def _curve(data: object, components: int) -> tuple[sgais.EvidenceRecord, ...]:
    model = sgais.models.GaussianMixture(components=components, dim=2)
    evidence = sgais.OnlineEvidence(model, sgais.Config.paper(), seed=components)
    evidence.run(sgais.stream(data, chunk_size=500))
    return evidence.records


if __name__ == "__main__":
    main()
