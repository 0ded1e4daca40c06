import io
import json

import pandas as pd
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


ALL = ("--method", "all", "--set", "nested.num_live=60", "--set", "nested.num_replaced=12")


def test_all_methods_and_a_verdict(command, table, data):
    found = json.loads(command("estimate", "linear-regression", table, *COLUMNS, *ALL, "--output", "json").stdout)
    exact = sgais.models.LinearRegression(dim=2).log_evidence(data)
    assert found["log_evidence"] == pytest.approx(exact, abs=0.01)
    assert found["believe"] == "laplace"
    assert list(found["results"]) == ["sgais", "laplace", "ais", "nested"]
    assert found["results"]["ais"]["agrees_with"] == ["sgais", "laplace", "nested"]
    assert found["verdict"].startswith("Believe laplace, log Z = ")


def test_a_verdict_that_believes_nobody(command, table):
    options = ("--method", "all", "--max-seconds", "0.001", "--strict")
    out = command("estimate", "linear-regression", table, *COLUMNS, *options, code=3).stdout
    assert out.splitlines()[0].split()[:3] == ["method", "log", "Z"]
    assert "BEWARE of nested: stopped after max_seconds" in out
    assert "Believe none of them: only sgais came through without a warning" in out
    options = ("--method", "all", "--max-seconds", "0.001", "--output", "csv")
    frame = pd.read_csv(io.StringIO(command("estimate", "linear-regression", table, *COLUMNS, *options).stdout))
    assert list(frame.method) == ["sgais", "laplace", "ais", "nested"]
    assert not frame.is_believed.any()


def test_rows_are_shuffled_unless_told_otherwise(command, table, data):
    def found(*options):
        arguments = ("estimate", "linear-regression", table, *COLUMNS, "--paper", "--output", "json", *options)
        return json.loads(command(*arguments).stdout)["log_evidence"]

    model, config = sgais.models.LinearRegression(dim=2), sgais.Config.paper()
    for options, shuffle in (((), None), (("--in-order",), False), (("--shuffle",), True)):
        assert found(*options) == sgais.estimate(model, data, config=config, shuffle=shuffle).log_evidence


BAD = [
    (("linear-regression", "table.csv", *COLUMNS, "--method", "all", "--paper"), 2, ["--method sgais"]),
    (("linear-regression", "table.csv", *COLUMNS, "--method", "all", "--set", "num_live=3"), 2, ["ais.num_particles"]),
    (("linear-regression", "table.csv", *COLUMNS, "--max-seconds", "3"), 2, ["max_seconds"]),
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
