"""EProcess against e-processes whose two parts are known in closed form."""

import numpy as np
import pytest
import statsmodels.api as sm

import sgais
from sgais.decisions import EProcess
from sgais.history import Reservoir
from sgais.models import LinearRegression

NULL, ALTERNATIVE = LinearRegression(dim=2, features=(0,)), LinearRegression(dim=2)


def data_of(effect, num_rows=1500, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(num_rows, 2)).astype(np.float32)
    return {"x": x, "y": (x @ [1.0, effect] + generator.normal(size=num_rows)).astype(np.float32)}


def exact(data, ends):
    largest = []
    for end in ends:
        design = sm.add_constant(data["x"][:end, :1].astype(float))
        squares = np.sum((data["y"][:end] - sm.OLS(data["y"][:end], design).fit().fittedvalues) ** 2)
        largest.append(-0.5 * (squares + end * np.log(2 * np.pi)))
    return ALTERNATIVE.log_evidence_curve(data, ends) - np.array(largest)


@pytest.mark.parametrize("effect", [0.0, 0.2])
def test_log_e_is_the_exact_one_but_for_the_errors_taken_off(effect):
    data, process = data_of(effect), EProcess(ALTERNATIVE, NULL)
    process.run(sgais.stream(data, 100))
    ends = [value.num_rows for value in process.records]
    found, truth = np.array([value.log_e for value in process.records]), exact(data, ends)
    errors = np.array([record.standard_error for record in process.alternative.records])
    assert (found <= truth + 0.01).all()
    assert (found >= truth - 6.0 * errors - 0.15).all()
    assert process.rejects() == (effect > 0)
    if effect:
        decision = process.decide()
        first = ends[int(np.argmax(found >= np.log(20)))]
        assert (decision.verdict, decision.row) == ("reject", first)
        assert str(first) in str(decision).replace(",", "")


def test_what_was_rejected_stays_rejected():
    process = EProcess(ALTERNATIVE, NULL)
    process.run(sgais.stream(data_of(0.5, 300), 50))
    row = process.decide().row
    assert row is not None
    process.run(sgais.stream(data_of(-0.5, 300, seed=1), 50))
    assert process.log_e < np.log(20)
    assert process.decide().row == row


def test_saved_and_resumed_it_goes_on_to_the_bit(tmp_path):
    data = data_of(0.2)
    straight = EProcess(ALTERNATIVE, NULL, seed=3)
    straight.run(sgais.stream(data, 250))
    half = EProcess(ALTERNATIVE, NULL, seed=3)
    half.run(sgais.stream({name: values[:750] for name, values in data.items()}, 250), save_to=tmp_path / "half")
    resumed = EProcess.load(tmp_path / "half", ALTERNATIVE, NULL)
    resumed.run(sgais.stream(data, 250))
    assert resumed.records == straight.records


def test_another_null_is_refused(tmp_path):
    process = EProcess(ALTERNATIVE, NULL)
    process.run(sgais.stream(data_of(0.0, 100), 100), save_to=tmp_path / "process")
    with pytest.raises(sgais.CheckpointError, match="must be the one that was saved"):
        EProcess.load(tmp_path / "process", ALTERNATIVE, LinearRegression(dim=2, noise_scale=2.0, features=(0,)))


def test_a_refused_chunk_leaves_everything_as_it_was():
    process = EProcess(ALTERNATIVE, NULL)
    with pytest.raises(sgais.DataError):
        process.update({"x": np.array([[0.0, np.nan]]), "y": np.zeros(1)})
    assert process.num_rows == 0
    assert process.log_e == 0.0
    process.update(data_of(0.0, 50))
    assert process.num_rows == 50


def test_wrong_arguments_are_refused():
    with pytest.raises(sgais.ConfigError, match="`history` must keep all rows"):
        EProcess(ALTERNATIVE, NULL, history=Reservoir(100))
    with pytest.raises(sgais.ConfigError, match="`null` must be a sgais.Model"):
        EProcess(ALTERNATIVE, "none")
    with pytest.raises(sgais.ConfigError, match="`level` must lie between 0 and 1"):
        EProcess(ALTERNATIVE, NULL).rejects(1.5)
    with pytest.raises(sgais.SgaisError, match="nothing to save"):
        EProcess(ALTERNATIVE, NULL).save("nowhere")


def test_an_absurd_row_is_refused_since_leaving_it_out_would_break_the_guarantee():
    data, process = data_of(0.5, 300), EProcess(ALTERNATIVE, NULL)
    wrong = {name: values.copy() for name, values in data.items()}
    wrong["y"][130] = 1e12
    first, second, third = sgais.stream(wrong, 100)
    process.update(first)
    before = process.records
    with pytest.raises(sgais.DataError, match="got row 30 of the chunk, row 130 of the stream, which is absurd"):
        process.update(second)
    assert process.records == before
    process.update(third)
    assert process.num_rows == 200
