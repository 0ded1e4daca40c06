"""From a CSV that nobody has seen to a ranked table, by formulas."""

import json

import numpy as np
import pandas as pd
import pytest

import sgais

GENERATOR = np.random.default_rng(4)
FRAME = pd.DataFrame({"price": GENERATOR.normal(100, 10, 240), "region": GENERATOR.choice(list("NSE"), 240)})
FRAME["sales"] = 50 - 0.3 * FRAME["price"] + 4.0 * (FRAME["region"] == "N") + GENERATOR.normal(0, 2, 240)
FRAME["remark"] = "nothing, to no purpose"
FORMULAS = ("sales ~ price", "regions=sales ~ price + region")


@pytest.fixture
def sales(tmp_path):
    FRAME.to_csv(tmp_path / "sales.csv", index=False)
    return "sales.csv"


def last(folder):
    records = pd.read_csv(folder / "records.csv")
    return records[records["num_rows"] == records["num_rows"].max()].set_index("model")["log_evidence"]


def test_formulas_are_ranked_and_a_run_goes_on_when_its_file_has_grown(command, sales, tmp_path):
    """The same bits as in one go, and as in Python on the frame."""
    said = command("compare", *FORMULAS, "-d", sales, "--chunk-size", 80, "--save", "whole")
    assert said.stdout.index("regions") < said.stdout.index("sales ~ price")
    FRAME[:160].to_csv(tmp_path / "grows.csv", index=False)
    command("compare", *FORMULAS, "-d", "grows.csv", "--chunk-size", 80, "--save", "part")
    FRAME.to_csv(tmp_path / "grows.csv", index=False)
    command("resume", "part")
    models = {"sales ~ price": sgais.glm("sales ~ price"), "regions": sgais.glm("sales ~ price + region")}
    comparison = sgais.Comparison(models)
    for start in (0, 80, 160):
        comparison.update(FRAME[start : start + 80])
    for name in models:
        assert last(tmp_path / "whole")[name] == last(tmp_path / "part")[name]
        assert last(tmp_path / "whole")[name] == pytest.approx(comparison[name].log_evidence, abs=1e-6)


def test_family_priors_and_levels_come_from_a_file_as_well(command, sales, tmp_path):
    (tmp_path / "run.toml").write_text(
        f'source = "{sales}"\nmodels = ["sales ~ price + region"]\nfamily = "gaussian"\n'
        '[prior]\nconjugate = ""\n[levels]\nregion = ["S", "N", "E", "W"]\n'
    )
    said = json.loads(command("run", "--config", "run.toml", "--output", "json").stdout)
    exact = sgais.glm("sales ~ price + region", priors="conjugate", levels={"region": list("SNEW")}).reader(FRAME)
    truth = sgais.models.formula.conjugate.log_evidence(exact.model, exact.read(FRAME))
    found = said.get("log_evidence", said.get("models", {}))
    assert found == pytest.approx(truth, abs=0.2)


def test_check_looks_at_a_formula(command, sales):
    assert "WRONG" not in command("check", "sales ~ price * region", sales).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sales ~ region", "sales.csv", "--levels", "region=N,S"), ["'N', 'S', got 'E'", "--levels region=A,B,C"]),
        (("region ~ price", "sales.csv"), ["must hold numbers", "gaussian"]),
    ],
)
def test_rows_that_do_not_fit_end_with_one_line(command, sales, arguments, says):
    *_, line = command("run", *arguments, code=1).stderr.strip().splitlines()
    assert line.startswith("sgais: ")
    assert all(words in line for words in says), line


BAD = [
    (("run", "sales ~ prise", "sales.csv"), 1, ["'prise'", "Did you mean 'price'"]),
    (("run", "sales ~ open(price)", "sales.csv"), 2, ["functions that it knows", "'open'"]),
    (("run", "sales ~ price", "sales.csv", "--family", "poison"), 2, ["'poisson'"]),
    (("run", "sales ~ price", "sales.csv", "--prior", "prise=normal(0,1)"), 2, ["--prior"]),
    (("check", "sales ~ price"), 2, ["SOURCE"]),
    (("serve", "sales ~ year(price)", "--save", "new"), 2, ["as numbers"]),
]


@pytest.mark.parametrize(("arguments", "code", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_formulas_are_one_line_that_says_what_to_do(refused, sales, arguments, code, says):
    refused(*arguments, code=code, says=says)
