"""Who agrees with whom, and which number to believe: on results that are made up."""

import math

import numpy as np
import pytest

import sgais
from sgais.results.result import COMPLETE


def result(method, log_evidence, error=0.1, status=COMPLETE, **budget):
    return sgais.Result(method, log_evidence, error, (), {}, np.empty(0), 100, 1.5, budget, status=status)


def verdict(*results, missing=()):
    return sgais.Verdict({one.method: one for one in results}, missing)


def test_the_smallest_error_among_those_that_agree_is_believed():
    found = verdict(result("sgais", -10.2), result("laplace", -10.0, 0.01), result("ais", -10.1), result("nested", -9))
    assert found.voters == ("sgais", "laplace", "ais", "nested")
    assert found.agreement["laplace"] == ("sgais", "ais")
    assert found.agreement["nested"] == ()
    assert found.believe is found.results["laplace"]
    assert (found.log_evidence, found.standard_error, found.status) == (-10.0, 0.01, "complete")
    assert found.is_complete
    assert found.verdict == (
        "Believe laplace, log Z = -10.00 ± 0.01: laplace, sgais and ais agree, and laplace has the smallest error; "
        "nested disagrees by +1.00, perhaps from a mode that the others miss."
    )


def test_a_result_with_a_warning_has_no_vote():
    warned = result("sgais", -10.0, 0.001, "not to be trusted: a mode was found")
    found = verdict(warned, result("laplace", -5.0), result("ais", -5.1))
    assert found.believe is not None
    assert found.believe.method == "laplace"
    assert found.agreement["sgais"] == ()
    assert "BEWARE of sgais: not to be trusted: a mode was found." in str(found)


def test_a_tenth_of_a_nat_is_agreement_whatever_the_errors():
    assert verdict(result("laplace", -10.0, 0.0), result("ais", -10.09, 0.001)).is_complete
    assert not verdict(result("laplace", -10.0, 0.0), result("ais", -10.2, 0.001)).is_complete
    assert verdict(result("laplace", -10.0, math.nan), result("ais", -10.05, 0.001)).believe.method == "ais"


def test_every_part_of_the_error_counts():
    biased = result("sgais", -13.0, 0.1, **{"Monte Carlo": 0.1, "kernel": 0.0, "modes": 2.0})
    found = verdict(biased, result("ais", -10.0, 0.5))
    assert found.believe.method == "ais", "its standard error is larger, its error is not"


@pytest.mark.parametrize(
    ("results", "best", "why"),
    [
        ([result("sgais", -1.0, 0.2), result("ais", -5.0)], -5.0, "sgais and ais all disagree"),
        ([result("sgais", -1.0), result("ais", -5.0, status="out of time")], -1.0, "only sgais came through"),
        ([result("sgais", -1.0, status="failed: no luck")], -1.0, "none came through"),
        ([result("ais", math.nan, math.nan, "failed: no luck")], math.nan, "none came through"),
        (
            [result("sgais", -1.0), result("laplace", -1.0), result("ais", -5.0), result("nested", -5.0)],
            -1.0,
            "(sgais and laplace) and (ais and nested) agree among themselves",
        ),
    ],
)
def test_where_nobody_is_to_be_believed(results, best, why):
    found = verdict(*results)
    assert found.believe is None
    assert not found.is_complete
    assert found.log_evidence == pytest.approx(best, nan_ok=True)
    assert math.isnan(found.standard_error)
    assert found.status.startswith("not to be trusted: ")
    assert why in found.verdict
    assert found.verdict.startswith("Believe none of them: ")
    assert found.to_frame().is_believed.sum() == 0


def test_who_agrees_with_both_sides_is_believed():
    found = verdict(result("sgais", -10.0, 1.0), result("laplace", -8.0), result("ais", -12.0))
    assert found.believe.method == "sgais"
    assert "sgais agrees with laplace and ais, which do not all agree with each other" in found.verdict


def test_the_table_has_a_line_for_each_and_the_verdict_below():
    failed = result("nested", math.nan, math.nan, "failed: ValueError: no luck")
    found = verdict(result("sgais", -10.2), result("ais", -10.1), failed, missing=("laplace",))
    header, first, _, last, *below = str(found).splitlines()
    assert header.split() == ["method", "log", "Z", "error", "seconds", "status", "agrees", "with"]
    assert first.split() == ["sgais", "-10.20", "0.10", "1.5", "complete", "ais"]
    assert last.split() == ["nested", "?", "!", "?", "1.5", "failed", "no", "vote"]
    assert below == ["BEWARE of nested: failed: ValueError: no luck.", "Not run: laplace.", found.verdict]
    frame = found.to_frame()
    assert list(frame.method) == ["sgais", "ais", "nested"]
    assert list(frame.agrees_with) == ["ais", "sgais", ""]
    assert frame.status.iloc[-1] == "failed: ValueError: no luck"
