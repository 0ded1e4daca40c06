"""Every example is run, as a user would run it. All but one stream the same rows: they must print the same number."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))
# One process for all, and programs compiled once: what is tested is the streams, not the compiler.
RUN_ALL = """
import runpy, sys
for path in sys.argv[1:]:
    print("##", path, flush=True)
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")
"""


def test_examples_stream_the_same_rows_from_every_source(tmp_path):
    finished = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", RUN_ALL, *EXAMPLES],
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    outputs = dict(re.findall(r"## .*/(\w+)\.py\n((?:(?!##).*\n)*)", finished.stdout))
    assert set(outputs) == {path.stem for path in EXAMPLES}
    evidences = {name: float(re.search(r"^log Z = (\S+)", text, re.MULTILINE)[1]) for name, text in outputs.items()}
    exact = float(re.search("exact: (.*)", outputs["lagged_series"])[1])
    assert evidences.pop("lagged_series") == pytest.approx(exact, abs=1.0)
    assert set(evidences.values()) == {evidences["arrays"]}
    assert "1 bad row" in outputs["csv_file"]


@pytest.mark.slow
def test_airline_passengers_come_back_after_a_year():
    finished = run_alone("real_data/airline_passengers.py")
    estimates = dict(re.findall(r"^([a-z' ]+?) {2,}(-[\d.]+) ", finished, re.MULTILINE))
    exact = dict(re.findall(r"([a-z' ]+) (-[\d.]+)(?:,|\n)", re.search("exact: (.*\n)", finished)[1]))
    assert len(exact) == 4
    for name, value in exact.items():
        assert float(estimates[name.strip()]) == pytest.approx(float(value), abs=1.0)
    assert "Conclusion: last year's month predicts best" in finished


@pytest.mark.slow
def test_visits_to_the_doctor_are_overdispersed():
    finished = run_alone("real_data/doctor_visits.py")
    ahead = [float(number) for number in re.findall(r"ahead by ([\d.]+)", finished)]
    assert ahead[-2] == pytest.approx(ahead[-1], rel=0.02), "the evidence says what the likelihood says"
    assert "Conclusion: visits are overdispersed" in finished


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "conclusion"),
    [
        ("firm_investment", "'groups' predicts best; BIC confirms it"),
        ("political_views", "'age' predicts best; BIC confirms it"),
        ("visit_counts", "the negative-binomial family is better; BIC confirms it"),
    ],
)
def test_bic_has_its_say_on_models_from_formulas(name, conclusion):
    """It leaves the prior out, which is worth some nats."""
    finished = run_alone(f"real_data/{name}.py")
    assert conclusion in finished
    for ours, other in re.findall(r": (-?[\d.]+) nats; .* says (-?[\d.]+)", finished):
        assert abs(float(ours) - float(other)) < 6.0


def run_alone(name):
    path = Path(__file__).parent.parent / "examples" / name
    finished = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.slow
def test_nested_sampling_agrees_with_a_scan_over_mixtures():
    finished = run_alone("real_data/kinds_of_firms.py")
    ours, other, error = map(float, re.search(r": (-?[\d.]+) nats; .* says (-?[\d.]+) ± ([\d.]+)", finished).groups())
    assert abs(ours - other) < 4 * error + 0.2
    assert "Conclusion: K=2 is the most probable" in finished


@pytest.mark.slow
def test_sequential_tests_stop_before_the_fixed_sample_is_there():
    finished = run_alone("decisions/ab_test.py")
    saved = [int(share) for share in re.findall(r"(\d+)% saved", finished)]
    assert len(saved) == finished.count("reject") == 2
    assert min(saved) > 25
    documented = (Path(__file__).parent.parent / "docs" / "decisions.md").read_text()
    for pattern in (r"since row ([\d,]+)", r"(\d+)% saved"):
        told, found = (
            [int(number.replace(",", "")) for number in re.findall(pattern, text)] for text in (documented, finished)
        )
        assert told == pytest.approx(found, rel=0.15), "the page says what the example prints, give or take a look"
