"""The search for modes: where it begins, what it finds, and what it says of what it may have missed."""

import jax
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.approximation.log_posterior import Posterior
from sgais.approximation.modes.merging import log_evidence, merge
from sgais.approximation.modes.mode_search import Limits, search, searching
from sgais.approximation.modes.newton import Mode, climb_all
from sgais.approximation.modes.splitting import perturbed
from sgais.approximation.modes.starts import starts
from sgais.approximation.modes.unseen_modes import Found
from sgais.compute.blocks import slabs
from sgais.compute.positions import constrain, unconstrain
from sgais.compute.prior_draws import sample_prior
from sgais.models import GaussianMixture, LinearRegression
from sgais.models.base import Model
from sgais.progress import Deadline

FOREVER = Deadline(None)
QUICK = Limits(num_starts=8, max_rounds=1, num_splits=0)


def posterior_of(model, **columns):
    rows = {name: np.asarray(values, np.float32) for name, values in columns.items()}
    return Posterior(model, jax.device_put(slabs(rows)))


def two_moons(num_rows=1000):
    generator = np.random.default_rng(0)
    angle, is_upper = generator.uniform(0, np.pi, num_rows), generator.random(num_rows) < 0.5
    x = np.where(is_upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(is_upper, np.sin(angle), 0.5 - np.sin(angle))
    return 2 * (np.stack([x - 0.5, y - 0.25], axis=1) + 0.1 * generator.normal(size=(num_rows, 2)))


def nine_clusters(num_rows=1000):
    generator = np.random.default_rng(0)
    centres = np.stack(np.meshgrid([-4, 0, 4], [-4, 0, 4]), axis=-1).reshape(-1, 2) + generator.normal(size=(9, 2)) / 2
    return centres[generator.integers(9, size=num_rows)] + 0.5 * generator.normal(size=(num_rows, 2))


@pytest.fixture(scope="module")
def moons():
    return posterior_of(GaussianMixture(components=3, dim=2), y=two_moons())


@pytest.fixture(scope="module")
def clusters():
    return posterior_of(GaussianMixture(components=3, dim=2), y=nine_clusters())


@pytest.mark.parametrize("data", ["moons", "clusters"])
def test_the_best_mode_is_found_from_any_seed(data, request):
    posterior = request.getfixturevalue(data)
    every = climb_all(posterior, starts(posterior, 99, range(80)), 100, FOREVER)
    best = max(log_evidence(posterior.model, mode) for mode in every if mode.is_converged)
    for seed in range(4):
        found = search(posterior, Limits(), seed, FOREVER)
        assert found.log_evidences[0] > best - 0.1
        assert found.doubt is None


def test_rearranged_components_find_what_too_few_starts_miss(clusters):
    best = search(clusters, Limits(), 0, FOREVER).log_evidences[0]
    few = [search(clusters, Limits(2, 1, num_splits=splits), seed, FOREVER) for splits in (0, 12) for seed in range(6)]
    is_best = [found.log_evidences[0] > best - 0.1 for found in few]
    assert sum(is_best[6:]) >= sum(is_best[:6]) + 2


def test_one_mode_takes_one_round():
    x = np.random.default_rng(0).normal(size=(5000, 2))
    posterior = posterior_of(LinearRegression(dim=2), x=x, y=x.sum(axis=1))
    found = search(posterior, Limits(), 0, FOREVER)
    assert [mode.num_starts for mode in found.modes] == [16]
    assert (found.num_searches, found.num_singletons, found.unseen_share) == (16, 0, 0.0)
    assert found.doubt is None


def peaks():
    """A peak that draws from the prior do not reach beside a wide one."""

    def log_likelihood(parameters, rows):
        at = parameters["x"]
        return (
            dist.MixtureSameFamily(
                dist.Categorical(np.array([0.99, 0.01])), dist.Normal(np.array([30.0, 0.0]), np.array([0.1, 3.0]))
            ).log_prob(at)
            + 0.0 * rows["y"]
        )

    return Model({"x": dist.Normal(0.0, 8.0)}, log_likelihood)


def test_given_positions_are_one_search():
    posterior = posterior_of(peaks(), y=np.zeros(1))
    assert len(search(posterior, QUICK, 0, FOREVER).modes) == 1
    particles = [np.array([29.9 + offset]) for offset in (0.0, 0.05, 0.1)]
    found = search(posterior, QUICK, 0, FOREVER, given=particles)
    near, wide = sorted(found.modes, key=lambda mode: -mode.position[0])
    assert near.position[0] == pytest.approx(30.0, abs=0.1)
    assert (near.num_starts, wide.num_starts) == (1, 8)


def test_known_modes_are_kept():
    posterior = posterior_of(peaks(), y=np.zeros(1))
    known = climb_all(posterior, np.array([[29.9]]), 50, FOREVER)
    assert len(search(posterior, QUICK, 0, FOREVER, known=known).modes) == 2


def test_modes_are_polished_on_all_rows_one_by_one():
    y = np.random.default_rng(1).normal(size=(20_000, 1)) + np.array([-3.0, 3.0])[np.arange(20_000) % 2, None]
    posterior = posterior_of(GaussianMixture(components=2, dim=1), y=y)
    *_, found = searching(posterior, QUICK, 0, FOREVER)
    again = climb_all(posterior, found.modes[0].position[None], 10, FOREVER)[0]
    assert again.num_steps == 0
    assert found.modes[0].log_posterior == pytest.approx(again.log_posterior, abs=0.05)


def mode_with(num_starts, is_converged=True):
    return Mode(np.zeros(1), 0.0, np.eye(1), is_converged, num_steps=1, num_starts=num_starts)


@pytest.mark.parametrize(
    ("hits", "log_evidences", "doubt"),
    [
        ((2, 1), (0.0, -5.0), None),
        ((1, 9), (0.0, -5.0), "only one start found the best mode"),
        ((3, 1), (0.0, -1.0), "only one start found a mode that matters"),
        ((3, 2, 1), (0.0, -1.0, -9.0), None),
    ],
)
def test_doubt_is_about_modes_that_matter(hits, log_evidences, doubt):
    found = Found(tuple(mode_with(hit) for hit in hits), np.array(log_evidences), num_searches=20, num_singletons=4)
    assert found.unseen_share == 0.2
    assert found.doubt is None if doubt is None else doubt in found.doubt


def test_more_hits_are_asked_for_where_modes_are_many():
    found = Found((mode_with(2),), np.zeros(1), num_searches=20, num_singletons=10)
    assert "only 2 starts found the best mode, there may be better ones (50% of 20 searches ended" in found.doubt
    assert found._replace(modes=(mode_with(3),)).doubt is None


def test_no_mode_is_the_worst_doubt():
    found = Found((mode_with(1, is_converged=False),), np.zeros(1), 16, 0)
    assert "no Newton ascent converged" in found.doubt
    assert found.log_evidence == -np.inf


def mixture_mode(means):
    model = GaussianMixture(components=3, dim=1)
    parameters = {
        "weights": np.full((1, 3), 1 / 3, np.float32),
        "variances": np.ones((1, 3, 1), np.float32),
        "means": np.array(means, np.float32).reshape(1, 3, 1),
    }
    position = unconstrain(model, parameters)[0].astype(float)
    return model, Mode(position, 0.0, 100 * np.eye(model.dimension), is_converged=True, num_steps=1)


@pytest.mark.parametrize(("means", "num_images"), [((0, 1, 2), 6), ((0, 0, 2), 3), ((1, 1, 1), 1)])
def test_equal_components_are_not_counted_twice(means, num_images):
    model, mode = mixture_mode(means)
    expected = mode.gaussian.log_volume + np.log(num_images)
    assert log_evidence(model, mode) == pytest.approx(expected, abs=1e-6)


def test_relabelled_modes_are_one():
    model, mode = mixture_mode((0, 1, 2))
    _, image = mixture_mode((2, 0, 1))
    _, other = mixture_mode((0, 1, 3))
    modes = merge(model, merge(model, [mode], image), other)
    assert [one.num_starts for one in modes] == [2, 1]


def test_rearranged_components_are_parameters():
    model = GaussianMixture(components=4, dim=2)
    position = sample_prior(model, 1, 0, 0)[0].astype(float)
    others = perturbed(model, position, 10, np.random.default_rng(0))
    assert others.shape == (10, model.dimension)
    weights = constrain(model, others)["weights"]
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-5)
    assert len(perturbed(LinearRegression(dim=2), np.zeros(3), 10, np.random.default_rng(0))) == 0


def with_starts(function):
    return Model(
        {"mean": dist.Normal(0.0, 100.0), "scale": dist.HalfNormal(100.0)},
        lambda parameters, rows: dist.Normal(parameters["mean"], parameters["scale"]).log_prob(rows["y"]),
        starts=function,
    )


def test_every_second_start_is_a_guess_from_the_rows():
    y = np.random.default_rng(0).normal(50.0, 1.0, size=700)
    seen = []

    def guess(rows, generator):
        seen.append(rows["y"])
        return {"mean": rows["y"].mean() + generator.normal(), "scale": rows["y"].std()}

    posterior = posterior_of(with_starts(guess), y=y)
    begun = starts(posterior, 0, range(6))
    np.testing.assert_allclose(begun[::2, 0], 50.0, atol=5.0)
    assert len(set(begun[:, 0])) == 6
    np.testing.assert_allclose(seen[0], y, rtol=1e-6)  # without the rows that fill up a block


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        ({"mean": 0.0}, r"`starts` must return a value for each of \['mean', 'scale'\], got \['mean'\]"),
        (3.0, "got float"),
        ({"mean": np.zeros(2), "scale": 1.0}, r"`starts` must return `mean` of shape \(\), got \(2,\)"),
        ({"mean": 0.0, "scale": -1.0}, "inside the prior's support"),
    ],
)
def test_wrong_guesses_are_refused(guess, message):
    posterior = posterior_of(with_starts(lambda rows, generator: guess), y=np.zeros(5))
    with pytest.raises(sgais.SgaisError, match=message):
        starts(posterior, 0, range(2))


def test_starts_must_be_a_function():
    with pytest.raises(sgais.SgaisError, match="`starts` must be a function"):
        with_starts({"mean": 0.0})


@pytest.mark.parametrize("num_rows", [1, 3, 500])
def test_a_mixture_guesses_from_any_number_of_rows(num_rows):
    y = np.random.default_rng(0).normal(size=(num_rows, 2)) * [1.0, 1e-3]
    posterior = posterior_of(GaussianMixture(components=4, dim=2), y=y)
    assert np.isfinite(starts(posterior, 0, range(20))).all()
