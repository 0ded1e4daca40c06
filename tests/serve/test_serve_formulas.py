"""Formulas in a service: categories are declared, and the log holds their places."""

import numpy as np
import pandas as pd
import pytest
from served import Served

import sgais

GENERATOR = np.random.default_rng(5)
FRAME = pd.DataFrame({"x": GENERATOR.normal(size=120), "firm": GENERATOR.choice(["one", "two"], 120)})
FRAME["y"] = FRAME["x"] + 2.0 * (FRAME["firm"] == "two") + GENERATOR.normal(size=120)


@pytest.mark.slow
def test_rows_with_text_are_taken_in_and_predicted(tmp_path):
    arguments = ("all=y ~ x + firm", "--levels", "firm=one,two", "--prior", "conjugate")
    service = Served(tmp_path / "run", *arguments, "--save", tmp_path / "run", "--chunk-size", 60)
    try:
        assert service.post(FRAME[:1].to_dict("records")).status == 201  # one row fixes nothing yet
        assert service.post(FRAME[1:].to_dict("records")).status == 201
        service.wait_for_rows(120)
        refused = service.post([{"x": 1.0, "firm": "three", "y": 2.0}])
        assert refused.status == 422
        assert "firm" in refused.body.decode()
        predicted = service.post([{"x": 0.0, "firm": "one"}, {"x": 0.0, "firm": "two"}], path="/predict")
        assert predicted.status == 200, predicted.body
        assert 1.3 < np.diff(predicted.json["mean"])[0] < 2.7
    finally:
        service.stop()
    reader = sgais.glm("y ~ x + firm", priors="conjugate").reader(FRAME[:60])
    exact = sgais.models.formula.conjugate.log_evidence(reader.model, reader.read(FRAME))
    found = pd.read_csv(tmp_path / "run" / "records.csv")["log_evidence"].iloc[-1]
    assert found == pytest.approx(exact, abs=0.2)
