"""What a run leaves behind: few points, a plain ending, and the settings that were asked for."""

import numpy as np
import pytest

import sgais
from experiments.paper import settings
from experiments.paper.execution import ending_of, execute, sgais_config, thinned
from experiments.paper.task import Task


def records(num_chunks, chunk=500):
    return [
        sgais.EvidenceRecord(
            num_rows=chunk * number,
            log_evidence=-2.0 * chunk * number,
            increment=-2.0 * chunk,
            standard_error=float("nan"),
            kernel_bias=0.0,
            annealing_steps=1 + number % 3,
            num_moves=number % 2,
            final_ess=5.0,
            weight_ess=2.0,
            kinetic_temperature=1.0,
            step_size=0.1,
            num_modes=0,
            num_non_finite=0,
            correction=0.0,
            num_bad_rows=0,
            warning="",
            seconds=0.25,
        )
        for number in range(1, num_chunks + 1)
    ]


def test_thinning_keeps_totals_round_numbers_and_the_end():
    curve = records(1999)
    points = thinned(curve)
    assert len(points) < 130
    assert {1000, 3000, 10_000, 100_000, 300_000} <= {point.rows for point in points}
    assert points[-1].rows == curve[-1].num_rows
    assert points[-1].seconds == pytest.approx(0.25 * 1999)
    assert sum(point.chunks for point in points) == 1999
    steps = sum(point.chunks * point.annealing_steps for point in points)
    assert steps == pytest.approx(sum(record.annealing_steps for record in curve))
    assert max(point.most_annealing_steps for point in points) == 3


def test_parameters_reach_the_algorithm():
    published = sgais_config(Task("mixture", settings.PAPER, 1000, 1000, 0))
    assert published == sgais.Config.paper()
    varied = {"learning_rate": 1.0, "num_steps": 2, "batch_size": 100, "num_particles": 5, "target_ess_fraction": 0.9}
    config = sgais_config(Task("mixture", settings.PAPER, 1000, 1000, 0, varied))
    assert (config.kernel.learning_rate, config.kernel.num_steps) == (1.0, 2)
    assert (config.batch_size, config.chunk_size, config.num_particles) == (100, 100, 5)
    assert config.target_ess_fraction == 0.9
    default = sgais_config(Task("mixture", settings.DEFAULT, 1000, 1000, 0))
    assert default == sgais.Config(chunk_size=500), "the same chunks as the published algorithm has"


def test_a_stream_that_takes_too_long_is_stopped_and_says_so():
    outcome = execute(Task("linear", settings.PAPER, 2000, 2000, 0), limit=1e-9)
    assert outcome.ending == "out of time"
    assert outcome.points[-1].rows == 500


def test_a_reference_is_exact_where_it_can_be():
    outcome = execute(Task("linear", settings.REFERENCE, 500, 2000, 0), limit=10.0)
    data = sgais.simulate.linear_regression(2000, dim=5, seed=0).data
    head = {name: values[:500] for name, values in data.items()}
    assert outcome.log_evidence == pytest.approx(sgais.models.LinearRegression(dim=5).log_evidence(head))


def test_a_run_that_fails_says_so_and_does_not_raise():
    outcome = execute(Task("linear", settings.PAPER, 500, 500, 0, {"num_particles": 0}), limit=10.0)
    assert outcome.ending == "failed"
    assert "num_particles" in outcome.status
    assert np.isnan(outcome.log_evidence)


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("complete", "complete"),
        ("stuck after 3 iterations: ...", "stuck"),
        ("stopped after max_seconds = 4000, at iteration 5; ...", "out of time"),
        ("out of time at inverse temperature 0.1", "out of time"),
        ("not to be trusted: ...", "doubtful"),
    ],
)
def test_endings(status, ending):
    assert ending_of(status) == ending
