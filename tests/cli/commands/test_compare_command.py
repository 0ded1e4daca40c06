import json
import re

import pytest

import sgais

COLUMNS = ("-c", "x=a,b", "-c", "y=target")

MODELS = ("linear-regression", "loud=linear-regression:noise_scale=3")


def test_the_table_ranks_the_models(command, table):
    out = command("compare", *MODELS, "--data", table, *COLUMNS, "--paper").stdout
    assert out.index("linear-regression") < out.index("loud") < out.index("600 rows.")


def test_json_is_what_python_says_and_the_folder_has_it_all(command, table, data, tmp_path):
    options = ("--paper", "--chunk-size", 200, "--save", "out", "--output", "json")
    found = json.loads(command("compare", "--model", MODELS[0], MODELS[1], "-d", table, *COLUMNS, *options).stdout)
    models = {
        "loud": sgais.models.LinearRegression(dim=2, noise_scale=3.0),
        "linear-regression": sgais.models.LinearRegression(dim=2),
    }
    comparison = sgais.Comparison(models, sgais.Config.paper())
    comparison.run(sgais.stream(data, chunk_size=200))
    assert found["leader"] == comparison.records[-1].leader
    for name, probability in comparison.probabilities.items():
        assert found["models"][name]["probability"] == pytest.approx(probability, rel=1e-12)
        assert found["models"][name]["log_evidence"] == comparison[name].log_evidence
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"run.json", "checkpoint", "records.csv", "alarms.csv", "report.md", "report.html"} <= names
    assert {"evidence.png", "probabilities.png", "bayes_factors.png", "annealing.png"} <= names
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<svg ") == page.count("<figure>") == 4
    assert page.count("<figcaption>") == 4
    # It needs nothing from elsewhere; a drawing's name spaces are addresses that nobody asks for.
    assert not re.search(r"""(?:src|href|url|@import)\W{0,3}(?:https?:)?//""", page)


def test_a_null_is_decided_about(command, table, data):
    options = ("--null", "loud", "--chunk-size", 200)
    out = command("compare", *MODELS, "--data", table, *COLUMNS, *options, "--output", "json").stdout
    found = json.loads(out)["decision"]
    models = {
        "linear-regression": sgais.models.LinearRegression(dim=2),
        "loud": sgais.models.LinearRegression(dim=2, noise_scale=3.0),
    }
    comparison = sgais.Comparison(models)
    comparison.run(sgais.stream(data, chunk_size=200))
    expected = comparison.decide(null="loud")
    assert (found["verdict"], found["row"]) == (expected.verdict, expected.row) == ("reject", 200)
    assert found["log_e"] == expected.log_e
    assert "Decision: reject 'loud'" in command("compare", *MODELS, "--data", table, *COLUMNS, *options).stdout


def test_weights_in_predictions_may_be_stacked(command, table, data, tmp_path):
    options = ("--combine", "stacking", "--chunk-size", 200, "--save", "out")
    found = json.loads(command("compare", *MODELS, "-d", table, *COLUMNS, *options, "--output", "json").stdout)
    models = {
        "linear-regression": sgais.models.LinearRegression(dim=2),
        "loud": sgais.models.LinearRegression(dim=2, noise_scale=3.0),
    }
    comparison = sgais.Comparison(models, combine="stacking")
    comparison.run(sgais.stream(data, chunk_size=200))
    expected = {"combine": "stacking", "score": comparison.score, "scores": comparison.scores}
    assert found["predictions"] == expected | {"weights": comparison.weights}
    assert "weights.png" in {path.name for path in (tmp_path / "out").iterdir()}
    report = (tmp_path / "out" / "report.md").read_text()
    assert "Weights in predictions by stacking: linear-regression" in report


BAD = [
    (("linear-regresion", "one=linear-regression", "-d", "table.csv"), 2, ["'linear-regression'"]),
    (("same=linear-regression", "same=linear-regression", "-d", "table.csv", *COLUMNS), 2, ["'same' twice"]),
    ((*MODELS, *COLUMNS), 2, ["`SOURCE`"]),
    ((*MODELS, "-d", "missing.parquet", *COLUMNS), 1, ["missing.parquet"]),
    ((*MODELS, "-d", "table.csv", "-c", "x=a,b", "-c", "y=goal"), 1, ["'goal'", "'target'"]),
    ((*MODELS, "-d", "table.csv", *COLUMNS, "--colour"), 2, ["--colour"]),
    ((*MODELS, "-d", "table.csv", *COLUMNS, "--null", "lout"), 2, ["`--null`", "'loud'"]),
    ((*MODELS, "-d", "table.csv", *COLUMNS, "--null", "loud", "--history", "reservoir:9"), 2, ["reservoir:9"]),
    (("linear-regression:noise=2", MODELS[1], "-d", "table.csv", *COLUMNS), 2, ["'noise_scale'"]),
    ((*MODELS, "-d", "table.csv", *COLUMNS, "--save", "table.csv/run"), 1, ["table.csv/run", "Choose another"]),
    (("raises.py:model", MODELS[0], "-d", "table.csv", *COLUMNS), 1, ["raises.py", "ValueError: no luck today"]),
    (("linear-regression", "gaussian-mixture:components=2", "-d", "table.csv", *COLUMNS), 2, ["same columns"]),
]


@pytest.mark.parametrize(("arguments", "code", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_input_is_one_line_that_says_what_to_do(refused, table, tmp_path, arguments, code, says):
    (tmp_path / "raises.py").write_text("raise ValueError('no luck today')\n")
    refused("compare", *arguments, code=code, says=says)
