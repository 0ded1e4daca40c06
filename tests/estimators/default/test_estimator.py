"""The default estimator as a whole; its accuracy is in statistical/, its phases have tests of their own."""

import numpy as np
import pytest
from streamed import DATA, MODEL, run

import sgais
from sgais.estimators.default import estimator as algorithm
from sgais.history import Memory


def test_the_size_of_chunks_hardly_matters():
    found = [run(DATA, size).log_evidence for size in (100, 3000)]
    assert abs(found[0] - found[1]) < 1.5


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    first, second, other = run(DATA, 500), run(DATA, 500), run(DATA, 500, seed=1)
    assert first.log_evidence == second.log_evidence
    np.testing.assert_array_equal(first.particles["weights"], second.particles["weights"])
    assert first.log_evidence != other.log_evidence


def test_rows_of_another_kind_are_noticed_and_log_z_is_taken_outright():
    """Noise of twice the size from row 1000 on: the model stays the same, the rows become less likely."""
    data = {name: values.copy() for name, values in DATA.items()}
    fit = np.linalg.lstsq(np.c_[data["x"], np.ones(3000)], data["y"], rcond=None)[0]
    residuals = data["y"] - np.c_[data["x"], np.ones(3000)] @ fit
    data["y"][1000:] += residuals[1000:]
    evidence = run(data, 250)
    state, last = evidence._state, evidence.records[-1]
    assert 1000 < state.changed_at <= 1500
    assert state.outright_at >= state.changed_at
    assert last.warning == "", "log Z owes nothing to the way there"
    assert abs(last.log_evidence - MODEL.log_evidence(data)) < 4 * last.standard_error
    assert last.standard_error < 0.1


def test_an_update_changes_neither_state_nor_past():
    state = algorithm.init(MODEL, sgais.Config(), 0)
    chunk = {name: values[:200] for name, values in DATA.items()}
    first, _ = algorithm.update(MODEL, sgais.Config(), 0, state, chunk, Memory())
    second, _ = algorithm.update(MODEL, sgais.Config(), 0, state, chunk, Memory())
    assert state.num_rows == 0
    assert first.estimate.log_evidence == second.estimate.log_evidence


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_particles": 100}, "`num_particles` must be a multiple of num_islands = 8, got 100"),
        ({"num_islands": 1}, "`num_islands` must"),
        ({"target_ess_fraction": 1.0}, "`target_ess_fraction` must"),
        ({"kernel": sgais.SGHMC()}, "`kernel` must be a sgais.Langevin"),
        ({"early_kernel": sgais.SGHMC()}, "`early_kernel` must be a sgais.HMC"),
        ({"batch_size": 1}, "`batch_size` must"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(sgais.ConfigError, match=message):
        sgais.Config(**changes)
