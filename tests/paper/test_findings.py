"""Verdicts: yes where a table shows what the paper says, no where it does not, neither where there is none."""

import pandas as pd
import pytest
import synthetic_tables

from experiments.paper import accuracy_and_speed, appendix_a, data_sets, differences, sensitivity, shift, tables
from experiments.paper.__main__ import RESULTS
from experiments.paper.findings import Verdict, falls, rises
from experiments.paper.headline import headlines
from experiments.paper.settings import DATA_SETS, PAPER, PROBLEMS, VARIED

NOTHING = pd.DataFrame()


def verdicts(findings):
    return [finding.verdict for finding in findings]


@pytest.mark.parametrize(
    ("values", "does"),
    [
        ([1, 2, 3, 4], True),
        ([1, 2, 4, 3], True),
        ([1, 4, 3, 2], False),
        ([4, 3, 2, 1], False),
        ([1, 1, 1], False),
        ([1], False),
        ([1, float("nan"), 3], False),
    ],
)
def test_trends(values, does):
    assert rises(values) is does
    assert falls([-value for value in values]) is does


@pytest.mark.parametrize("parameter", VARIED)
def test_every_finding_on_a_parameter_can_be_yes(parameter):
    found = sensitivity.findings(synthetic_tables.sensitivity(), parameter)
    assert verdicts(found) == [Verdict.AGREES] * len(found), found


@pytest.mark.parametrize("parameter", VARIED)
def test_every_trend_of_a_parameter_can_be_no(parameter):
    """Everything goes the other way; what is asked not to change does."""
    turned = {name: tuple(-way or 1 for way in ways) for name, ways in synthetic_tables.DIRECTIONS.items()}
    table = synthetic_tables.sensitivity(turned)
    for (claim, check), finding in zip(
        sensitivity.CHECKS[parameter], sensitivity.findings(table, parameter), strict=True
    ):
        is_trend = check not in (sensitivity.FEWER_CHUNKS, *OTHER_CHECKS)
        assert finding.verdict == Verdict.DIFFERS or not is_trend, claim


OTHER_CHECKS = (
    sensitivity._most_steps_are_early,
    sensitivity._one_step_at_the_lowest,
    sensitivity._acceptable_above_one,
    sensitivity._small_impact_on_time,
    sensitivity._acceptable_at_the_largest,
)


def summary(**columns):
    known = {
        "error": [0.001, 0.001],
        "seconds": [1.0, 1.0],
        "chunks": [10, 10],
        "steps": [10, 20],
        "early_steps": [5, 14],
    }
    table = pd.DataFrame(known | columns, index=pd.Index([0.1, 0.5], name="value"))
    return table.assign(steps_per_chunk=table["steps"] / table["chunks"])


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (sensitivity._most_steps_are_early, {}, {"early_steps": [5, 6]}),
        (sensitivity._most_steps_are_early, {}, {"steps": [20, 10]}),
        (sensitivity._one_step_at_the_lowest, {}, {"steps": [11, 20]}),
        (sensitivity._acceptable_above_one, {"error": [0.5, 0.001]}, {"error": [0.001, 0.02]}),
        (sensitivity._small_impact_on_time, {"seconds": [1.0, 1.4]}, {"seconds": [1.0, 1.6]}),
        (sensitivity._acceptable_at_the_largest, {}, {"error": [0.001, 0.02]}),
        (sensitivity._steps_unchanged, {"steps": [10, 12]}, {"steps": [10, 13]}),
        (sensitivity.FEWER_CHUNKS, {"chunks": [10, 5]}, {"chunks": [5, 10]}),
    ],
)
def test_other_checks_can_be_yes_and_no(check, right, wrong):
    assert check("", summary(**right)).verdict == Verdict.AGREES
    assert check("", summary(**wrong)).verdict == Verdict.DIFFERS


def test_steps_that_come_late_are_told():
    early, late = (synthetic_tables.sensitivity(late_share=share) for share in (0.0, 1.0))
    assert sensitivity.findings(early, "target_ess_fraction")[1].verdict == Verdict.AGREES
    assert sensitivity.findings(late, "target_ess_fraction")[1].verdict == Verdict.DIFFERS


def test_without_a_reference_nothing_is_said_of_accuracy():
    table = synthetic_tables.sensitivity()
    found = sensitivity.findings(table[table["parameter"] != "reference"], "learning_rate")
    assert verdicts(found) == [Verdict.UNKNOWN, Verdict.AGREES, Verdict.AGREES]


def test_a_shift_as_the_paper_has_it():
    found = shift.findings(synthetic_tables.shift())
    assert verdicts(found) == [Verdict.AGREES] * 6, found


def test_of_changes_between_too_few_chunks_nothing_is_said():
    table = synthetic_tables.shift()
    found = shift.findings(table[(table["rows"] < 1000) | (table["rows"] > 2000)])
    assert verdicts(found)[:2] == [Verdict.UNKNOWN] * 2


def spoiled_shift(number):
    """A table in which one finding, at least, does not hold."""
    table = synthetic_tables.shift()
    is_ordered = table["order"] == "in order"
    if number == 0:  # nothing changes
        table.loc[is_ordered, "log_evidence"] = -4.0 * table["rows"]
    if number == 1:
        table["most_annealing_steps"] = 1
    if number == 2:
        table.loc[table["components"] == 7, "most_annealing_steps"] = 5
    if number == 3:  # trapped
        table.loc[is_ordered, "log_evidence"] *= 1.05
    if number == 4:
        table.loc[table["components"] == 3, "log_evidence"] *= 0.5
    if number == 5:
        table.loc[is_ordered & (table["components"] == 3), "log_evidence"] += 1e6
    return table


@pytest.mark.parametrize("number", range(6))
def test_every_finding_on_a_shift_can_be_no(number):
    assert shift.findings(spoiled_shift(number))[number].verdict == Verdict.DIFFERS


def test_accuracy_and_speed_as_the_paper_has_them():
    table = synthetic_tables.accuracy_and_speed()
    for problem in PROBLEMS:
        found = accuracy_and_speed.findings(table, problem)
        assert verdicts(found) == [Verdict.AGREES] * len(found), found


def test_accuracy_and_speed_can_be_otherwise():
    table = synthetic_tables.accuracy_and_speed(relative_error=0.05, ais_factor=100.0)
    stream = table["method"] == "sgais, as published"
    table.loc[stream, "seconds"] = 1e-9 * table["rows"] ** 2
    found = accuracy_and_speed.findings(table, "linear")
    assert verdicts(found) == [Verdict.DIFFERS] * 4, found


@pytest.mark.parametrize(
    ("ending", "verdict", "words"),
    [
        ("stuck", Verdict.AGREES, "where 1 of 1 runs of NS got stuck"),
        ("out of time", Verdict.UNKNOWN, "no run"),
        ("complete", Verdict.AGREES, "at N = 1,000,000"),
    ],
)
def test_a_nested_sampler_that_gets_stuck_has_ended_by_the_published_rule(ending, verdict, words):
    found = accuracy_and_speed.findings(synthetic_tables.accuracy_and_speed(nested_ending=ending), "mixture")[0]
    assert (found.verdict, words in found.measured) == (verdict, True)
    assert ("stuck" in found.measured) == (ending == "stuck")


def test_where_nested_sampling_ends():
    stuck = differences.nested_ends(synthetic_tables.accuracy_and_speed(nested_ending="stuck"))[0]
    assert "mixture: from 1,000 rows on, with a log Z 0.05% too low at 1,000,000" in stuck
    assert differences.nested_ends(synthetic_tables.accuracy_and_speed()) == ["None of our runs got stuck."]


def test_the_typical_data_set_is_the_one_in_the_middle():
    table = synthetic_tables.data_sets((0.001, 0.004, 0.002))
    assert data_sets.typical(table) == 2
    assert data_sets.summary(table)["median"].tolist() == pytest.approx([0.001, 0.004, 0.002])
    assert data_sets.summary(table)["max"].tolist() == pytest.approx([0.015, 0.06, 0.03])
    assert "more than 0.2% on 1 of them. Data set 2 is in the middle" in differences.choice(table)[0]


def test_a_data_set_without_a_reference_is_left_out():
    table = synthetic_tables.data_sets()
    without = table[(table["method"] == PAPER) | (table["data_set"] != 1)]
    assert data_sets.summary(without).index.tolist() == [0, 2]
    assert data_sets.summary(NOTHING).empty


def test_figures_show_the_typical_mixture():
    assert data_sets.typical(tables.read(RESULTS, data_sets.TABLE)) == DATA_SETS["mixture"]


def test_headlines_as_published():
    found = headlines(synthetic_tables.accuracy_and_speed(nested_factor=2000.0), synthetic_tables.sensitivity())
    assert verdicts(found) == [Verdict.AGREES] * 8, found
    assert found[0].seeds == 3
    assert found[3].as_published == "2000.0"


def test_headlines_can_be_otherwise():
    slow = synthetic_tables.accuracy_and_speed(relative_error=0.01, nested_factor=2.0, ais_factor=2.0)
    found = headlines(slow, synthetic_tables.sensitivity())
    assert verdicts(found) == [Verdict.DIFFERS] * 8, found


def test_fewer_rows_than_published_are_not_judged():
    accuracy, varied = synthetic_tables.accuracy_and_speed(), synthetic_tables.sensitivity()
    found = headlines(accuracy[accuracy["rows"] <= 100_000], varied[varied["rows"] <= 100_000])
    assert set(verdicts(found)) == {Verdict.UNKNOWN}
    assert found[0].as_published.startswith("0.1 %")


def test_a_lower_bound_decides_only_if_it_is_high_enough():
    fast, slow = (
        headlines(
            synthetic_tables.accuracy_and_speed(nested_ending="out of time", nested_factor=factor),
            synthetic_tables.sensitivity(),
        )[3]
        for factor in (100.0, 2.0)
    )
    assert (fast.verdict, slow.verdict) == (Verdict.AGREES, Verdict.UNKNOWN)
    assert fast.as_published.startswith("at least")


def test_the_time_until_nested_sampling_gets_stuck_is_all_that_it_takes():
    table = synthetic_tables.accuracy_and_speed(nested_ending="stuck", nested_factor=2.0)
    found = headlines(table, synthetic_tables.sensitivity())[3]
    assert (found.verdict, found.as_published) == (Verdict.DIFFERS, "2.0")


def test_a_speed_up_over_several_runs_is_given_with_its_range():
    table = synthetic_tables.accuracy_and_speed()
    slower = table[(table["method"] == "nested") & (table["problem"] == "linear")].assign(seed=1)
    slower["seconds"] *= 3
    found = headlines(pd.concat([table, slower]), synthetic_tables.sensitivity())
    assert found[3].as_published == "400.0 (200.0 to 600.0)"
    assert found[5].as_published == "200.0", "one run has no range"


def test_a_run_that_was_never_begun_gives_the_bound_of_the_one_that_took_too_long():
    table = synthetic_tables.accuracy_and_speed()
    annealed = (table["problem"] == "logistic") & (table["method"] == "ais")
    table.loc[annealed & (table["rows"] == 100_000), ["ending", "seconds"]] = ["out of time", 4000.0]
    table = table[~(annealed & (table["rows"] > 100_000))]
    assert accuracy_and_speed.seconds(table, "logistic", "ais", 1_000_000) == (40_000.0, True), "in proportion"


def test_the_chance_that_bands_miss_each_other():
    """Of ten draws of one law, the first five are all below or all above the others in 2 of 252 cases.

    Five draws are all on one side of a value that is all but known in 2 of 32.
    """
    assert appendix_a.chance_of_missing(2.0, 2.0, 5) == pytest.approx(2 / 252, rel=1e-6)
    assert appendix_a.chance_of_missing(1.0, 1e-4, 5) == pytest.approx(2 / 2**5, rel=1e-2)
    assert appendix_a.chance_of_missing(1e-4, 1.0, 5) == pytest.approx(2 / 2**5, rel=1e-2)
    assert appendix_a.chance_of_missing(0.0, 0.0, 5) == 0


def test_bands_that_overlap_and_bands_that_do_not():
    for distance, verdict in ((0.0, Verdict.AGREES), (5.0, Verdict.DIFFERS)):
        table = synthetic_tables.appendix_a(distance)
        assert verdicts(appendix_a.findings(table, "published")) == [verdict]
    assert dict(appendix_a.numbers(table, "published"))["mean of log Z nested - log Z AIS (nats)"] == "-5.000"


def test_an_error_that_grows_with_the_rows_is_called_so_and_no_other():
    assert "times, in proportion to N" in differences.bias(synthetic_tables.accuracy_and_speed())[0]
    table = synthetic_tables.accuracy_and_speed()
    ours = table["method"] == "sgais, as published"
    table.loc[ours, "log_evidence"] = -1.4 * table["rows"] - 3.0
    assert "not in proportion to N" in differences.bias(table)[0]


def test_runs_that_end_in_a_poor_mode_are_counted():
    table = synthetic_tables.accuracy_and_speed()
    assert "0 of 3 published runs" in differences.modes(table)[0]
    lost = (table["problem"] == "mixture") & (table["method"] == PAPER) & (table["seed"] == 1)
    table.loc[lost, "log_evidence"] *= 1.01
    assert "1 of 3 published runs" in differences.modes(table)[0]
    assert "Not measured" in differences.modes(NOTHING)[0]


def test_the_gain_of_a_learning_rate_of_one_is_told_with_numbers():
    accuracy, varied = synthetic_tables.accuracy_and_speed(nested_factor=2000.0), synthetic_tables.sensitivity()
    (words,) = differences.learning_rate_of_one(accuracy, varied)
    assert "takes 0.625 s, one of 0.1 with 20 steps 2.5 s: 4.0 times as long" in words
    assert "Nested sampling takes 4e+04 s" in words


def test_without_tables_nothing_is_claimed():
    found = [
        *accuracy_and_speed.findings(NOTHING, "linear"),
        *shift.findings(NOTHING),
        *sensitivity.findings(NOTHING, "learning_rate"),
        *appendix_a.findings(NOTHING, "published"),
        *headlines(NOTHING, NOTHING),
    ]
    assert set(verdicts(found)) == {Verdict.UNKNOWN}
    for sentences in (differences.bias, differences.resampling, differences.moves):
        assert sentences(NOTHING)[0].startswith("Not measured")
    assert differences.learning_rate_of_one(NOTHING, NOTHING) == ["Not measured."]
    assert differences.stopping(NOTHING, 600.0) == ["Not measured."]


def test_what_a_limit_still_tells_is_counted_in_runs_of_sgais():
    words, growth = differences.stopping(synthetic_tables.accuracy_and_speed(seconds_per_row=2e-5), 600.0)
    assert "30 times (linear, 20 s)" in words
    assert "10.0 times on 10.0 times the rows (nested, linear)" in growth


def test_times_of_runs_that_were_not_alone_do_not_count():
    table = synthetic_tables.accuracy_and_speed()
    before = accuracy_and_speed.speed_up(table, "linear", "nested")
    disturbed = table[table["method"] == "nested"].assign(seed=1, seconds=float("nan"), ending="out of time")
    table.loc[(table["method"] == "sgais, as published") & (table["seed"] > 0), "seconds"] = float("nan")
    assert accuracy_and_speed.speed_up(pd.concat([table, disturbed]), "linear", "nested") == before
    assert headlines(table, NOTHING)[3].seeds == 1
