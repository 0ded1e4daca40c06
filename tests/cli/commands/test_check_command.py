import pytest

COLUMNS = ("-c", "x=a,b", "-c", "y=target")

SHIFTED = """
import jax.numpy as jnp, numpyro.distributions as dist, sgais
model = sgais.Model(
    prior={"centre": dist.Normal(0.0, 1.0)},
    log_likelihood=lambda p, rows: dist.Normal(p["centre"], 1.0).log_prob(rows["a"] - jnp.mean(rows["a"])),
)
"""


def test_a_sound_model(command, table):
    out = command("check", "linear-regression", table, *COLUMNS).stdout
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["good", f"{what}:"] for what in ("shapes", "finite", "gradients", "float32", "rows", "speed")
    ]


def test_a_model_whose_rows_depend_on_each_other(command, table, tmp_path):
    (tmp_path / "mine.py").write_text(SHIFTED)
    out = command("check", "mine.py:model", table, code=1).stdout
    assert "WRONG rows: the log-likelihood of a row changes" in out


BAD = [
    (("liner-regression",), 2, ["'linear-regression'"]),
    (("linear-regression",), 2, ["'dim'"]),
    (("linear-regression", "missing.csv", *COLUMNS), 1, ["missing.csv"]),
    (("linear-regression", "table.csv", "-c", "x=a,z", "-c", "y=target"), 1, ["'z'", "'a', 'b', 'target'"]),
    (("raises.py:model",), 1, ["raises.py", "ValueError: no luck today"]),
    (("mine.py:modle",), 2, ["'model'"]),
    (("mine.py:model",), 2, ["`SOURCE`"]),
    (("linear-regression:dim=2", "--colour"), 2, ["--colour"]),
]


@pytest.mark.parametrize(("arguments", "code", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_input_is_one_line_that_says_what_to_do(refused, table, tmp_path, arguments, code, says):
    (tmp_path / "raises.py").write_text("raise ValueError('no luck today')\n")
    (tmp_path / "mine.py").write_text(SHIFTED)
    refused("check", *arguments, code=code, says=says)
