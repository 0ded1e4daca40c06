"""Who is faster than whom, and what can be said where somebody was stopped."""

import pytest
from peer_lines import LIMIT, nearly_too_slow, ours, runs, too_slow

from benchmarks.peers.speedups import Asked, holds, speedup

ASKED = Asked("linear", 1000, 1000, 50.0)


def measured(lines, rows=1000, peer_rows=1000):
    return speedup(lines, "linear", rows, peer_rows)


def test_the_fastest_peer_counts_by_medians():
    lines = [
        *ours("linear", 1000),
        *runs("linear", "dynesty", 1000, [50.0, 200.0, 250.0]),
        *runs("linear", "UltraNest", 1000, [300.0]),
    ]
    found = measured(lines)
    assert (found.peer, found.ratio, found.is_bound) == ("dynesty", 100.0, False)
    assert holds(ASKED, found)
    assert not holds(ASKED._replace(factor=101.0), found)


def test_a_peer_that_is_wrong_does_not_count():
    wrong = runs("linear", "dynesty", 1000, [1.0, 1.0, 1.0], error=-3.1)
    right = runs("linear", "UltraNest", 1000, [300.0], error=-2.9)
    assert measured([*ours("linear", 1000), *wrong, *right]).peer == "UltraNest"
    assert measured([*ours("linear", 1000), *wrong]) is None, "nobody was right, and nobody was stopped"


def test_our_own_other_methods_are_no_peers():
    laplace = runs("linear", "our Laplace", 1000, [0.1])
    slow = too_slow("linear", "dynesty", 1000)
    assert measured([*ours("linear", 1000), *laplace, *slow]).is_bound


@pytest.mark.parametrize("rows", [100, 1000])
def test_where_no_peer_comes_to_its_end_the_limit_is_a_bound(rows):
    found = measured([*ours("linear", 1000), *too_slow("linear", "dynesty", rows)])
    assert found.is_bound
    assert found.ratio == LIMIT / 2.0


def test_a_peer_that_would_have_been_too_slow_is_a_bound_as_well():
    found = measured([*ours("linear", 1000), *nearly_too_slow("linear", "dynesty", 100)])
    assert (found.is_bound, found.ratio) == (True, LIMIT / 2.0)


def test_more_rows_of_ours_against_fewer_of_theirs():
    lines = [*ours("linear", 10_000, [100.0]), *runs("linear", "dynesty", 1000, [150.0])]
    found = measured(lines, rows=10_000)
    assert found.ratio == 1.5
    assert holds(Asked("linear", 10_000, 1000, 1.0), found)
    assert not holds(Asked("linear", 10_000, 1000, 2.0), found)


def test_speed_does_not_make_up_for_an_error():
    lines = [*ours("linear", 1000, error=5.0), *runs("linear", "dynesty", 1000, [500.0])]
    assert not holds(ASKED, measured(lines))


def test_without_a_result_of_ours_nothing_holds():
    lines = [*too_slow("linear", "sgais", 1000), *runs("linear", "dynesty", 1000, [500.0])]
    assert measured(lines) is None
    assert not holds(ASKED, measured(lines))
