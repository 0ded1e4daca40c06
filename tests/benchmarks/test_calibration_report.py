"""Runs of the calibration suite are counted as they should be."""

import pytest

from benchmarks.calibration.problem import Truth
from benchmarks.calibration.publish import digest
from benchmarks.calibration.report import report, scores, summary
from benchmarks.calibration.runs import Point, Run, Store

TRUTHS = {"a": {50: Truth(-50.0, 0.0, "exact"), 100: Truth(-100.0, 0.0, "exact")}, "b": {40: Truth(-9.0, 0.3, "long")}}


def run(end, claimed=0.1, warning="", problem="a", rows=100, seed=0):
    return Run(problem, seed, 2.0, (Point(rows, end, claimed, warning),))


def end_of(*runs):
    return summary(scores(runs, TRUTHS))


def test_coverage_is_the_share_of_runs_within_two_errors():
    line = end_of(run(-100.1), run(-99.9), run(-100.0), run(-100.3))
    assert (line["runs"], line["covered"], line["silent failures"]) == ("4", "75%", "0")
    assert (line["mean error"], line["RMS z"]) == ("-0.07", "1.7")


@pytest.mark.parametrize(
    ("end", "claimed", "warning", "expected"),
    [
        (-101.0, 0.1, "", "1"),
        (-101.0, 0.1, "a mode was missed", "0"),
        (-101.0, 0.3, "", "0"),  # within 4 errors
        (-100.4, 0.05, "", "0"),  # within half a nat
        (float("nan"), 0.1, "", "1"),
    ],
)
def test_a_silent_failure_is_far_off_without_a_word(end, claimed, warning, expected):
    assert end_of(run(end, claimed, warning))["silent failures"] == expected


def test_a_failed_run_is_neither_covered_nor_silent():
    line = end_of(run(-100.0), Run("a", 1, 0.5, failure="ValueError: no"))
    assert (line["runs"], line["covered"], line["failed"], line["silent failures"]) == ("2", "50%", "1", "0")


def test_the_error_of_the_truth_is_allowed_for():
    assert end_of(run(-8.5, 0.1, problem="b", rows=40))["covered"] == "100%"


def test_earlier_points_are_counted_apart():
    both = Run("a", 0, 1.0, (Point(50, -60.0, 0.1, ""), Point(100, -100.0, 0.1, "")))
    line = end_of(both)
    assert (line["covered"], line["at 1/4, 1/2, 3/4"]) == ("100%", "-, 0%, -")


def test_a_truth_that_is_in_doubt_counts_for_nothing():
    doubtful = {"a": {100: Truth(-100.0, 0.2, "long", is_sound=False)}}
    assert not scores([run(-90.0)], doubtful).points


def test_warnings_of_right_runs_are_told_apart():
    line = end_of(run(-100.0, warning="beware"), run(-100.0), run(-105.0, warning="beware"))
    assert (line["warned"], line["warned though right"]) == ("67%", "50%")


def test_the_page_has_a_line_for_each_problem_that_was_run():
    found = scores([run(-100.0), run(-9.0, problem="b", rows=40)], TRUTHS)
    families, halves = {"a": "one", "b": "two", "c": "two"}, {"a": "tuning", "b": "report", "c": "tuning"}
    page = report(found, families, halves, "sgais", "make bench-calibration")
    assert "| a (tuning) | 1 |" in page
    assert "| two | 1 |" in page
    assert "| c (tuning)" not in page


def test_runs_are_read_back(tmp_path):
    store, done = Store(tmp_path, "ais"), run(-100.25, 0.5, "beware", seed=3)
    store.append(done)
    store.append(Run("a", 4, 0.5, failure="ValueError: no"))
    assert store.read("a") == [done, Run("a", 4, 0.5, failure="ValueError: no")]
    assert store.read("b") == []


def test_the_published_table_has_the_worst_family_first_and_counts_what_is_silent():
    families = {"a": "fine", "b": "poor"}
    found = scores([run(-100.1), run(-18.0, problem="b", rows=40)], TRUTHS)
    text = digest(found, families, "there.md")
    assert text.index("| poor |") < text.index("| fine |")
    assert "1 of 2 numbers is more than 4 errors" in text
    assert "1 seeds of each of 2 problems" in text
    assert "| fine |" not in digest(found, families, "there.md", lines=1)
