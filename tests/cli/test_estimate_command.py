import json

import pytest

import sgais

COLUMNS = ("-c", "x=a,b", "-c", "y=target")


def test_laplace_is_exact_where_the_posterior_is_gaussian(command, table, data):
    options = ("--method", "laplace", "--output", "json")
    found = json.loads(command("estimate", "linear-regression", table, *COLUMNS, *options).stdout)
    exact = sgais.models.LinearRegression(dim=2).log_evidence(data)
    assert found["log_evidence"] == pytest.approx(exact, abs=max(4 * found["standard_error"], 0.01))
    assert found["status"] == "complete"


def test_the_online_method_in_words(command, table):
    out = command("estimate", "linear-regression", table, *COLUMNS, "--paper", "--set", "num_particles=5").stdout
    assert out.startswith("log Z = ")
    assert "600 rows, sgais" in out


BAD = [
    (("liner-regression", "table.csv"), 2, ["'linear-regression'"]),
    (("linear-regression", "missing.csv", *COLUMNS), 1, ["missing.csv"]),
    (("linear-regression", "table.csv", "-c", "x=a,z", "-c", "y=target"), 1, ["'z'", "'a', 'b', 'target'"]),
    (("linear-regression", "table.csv", *COLUMNS, "--method", "magic"), 2, ["magic", "laplace"]),
    (("linear-regression", "table.csv", *COLUMNS, "--method", "ais", "--paper"), 2, ["--method sgais"]),
    (("linear-regression", "table.csv", *COLUMNS, "--method", "ais", "--set", "points=3"), 2, ["AISConfig"]),
    (("linear-regression", "table.csv", *COLUMNS, "--colour"), 2, ["--colour", "sgais estimate --help"]),
    (("linear-regression:noise=2", "table.csv", *COLUMNS), 2, ["'noise_scale'"]),
    (("raises.py:model", "table.csv"), 1, ["raises.py", "ValueError: no luck today"]),
]


@pytest.mark.parametrize(("arguments", "code", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_input_is_one_line_that_says_what_to_do(refused, table, tmp_path, arguments, code, says):
    (tmp_path / "raises.py").write_text("raise ValueError('no luck today')\n")
    refused("estimate", *arguments, code=code, says=says)
