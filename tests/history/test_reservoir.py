import numpy as np
import pytest
from scipy import stats

import sgais
from sgais.history import Memory, Reservoir, RowView, draw

STREAMS = 10_000


def numbers(start, end):
    return {"y": np.arange(start, end)}


def filled(rows, size, chunk_size, seed=0):
    reservoir = Reservoir(size, seed)
    for start in range(0, rows, chunk_size):
        reservoir.append(numbers(start, min(rows, start + chunk_size)))
    return reservoir


def sample(reservoir):
    """All rows of the sample, each once."""
    rows = reservoir.num_rows
    return np.sort(RowView(reservoir, numbers(rows, rows + 1)).weighted_sample(rows)[0]["y"])


def test_every_row_is_as_likely_to_be_kept():
    counts = np.zeros(60)
    for seed in range(STREAMS):
        kept = sample(filled(60, 6, 7, seed))
        assert len(np.unique(kept)) == 6
        counts[kept] += 1
    # Rows of one sample exclude each other, which makes the counts a little more even than chi-squared has it.
    statistic = ((counts - STREAMS / 10) ** 2).sum() / (STREAMS / 10 * 0.9) * 59 / 60
    assert 1e-3 < stats.chi2(59).sf(statistic) < 0.999


def test_pairs_of_rows_are_kept_independently():
    """Two neighbours are together in a sample of 6 of 60 with chance 6/60 * 5/59."""
    together = sum({20, 21} <= set(sample(filled(60, 6, 11, seed)).tolist()) for seed in range(STREAMS))
    expected = STREAMS * 6 / 60 * 5 / 59
    assert abs(together - expected) < 4 * np.sqrt(expected)


@pytest.mark.parametrize("chunk_size", [1, 7, 50, 500])
def test_the_sample_does_not_depend_on_how_rows_are_cut(chunk_size):
    np.testing.assert_array_equal(sample(filled(500, 20, chunk_size)), sample(filled(500, 20, 3)))


def test_until_it_is_full_it_is_the_whole_past():
    reservoir, memory = Reservoir(100), Memory()
    for history in (reservoir, memory):
        history.append(numbers(0, 60))
        history.append(numbers(60, 100))
    assert RowView(reservoir, numbers(0, 1)).is_whole
    np.testing.assert_array_equal(reservoir.between(10, 90)["y"], np.arange(10, 90))
    drawn = (draw(history, np.random.default_rng(0), (50,))["y"] for history in (reservoir, memory))
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("chunk_size", [1, 8, 100, 250])
def test_the_latest_rows_are_all_there(chunk_size):
    reservoir = filled(1000, 100, chunk_size)
    assert reservoir.reach == 100
    np.testing.assert_array_equal(reservoir.between(900, 1000)["y"], np.arange(900, 1000))
    np.testing.assert_array_equal(reservoir.take(np.array([[905], [999]]), 900, 1000)["y"], [[905], [999]])
    assert reservoir.num_kept(900, 1000) == 100


def test_draws_are_of_the_stretch_that_was_asked_for():
    reservoir = filled(1000, 100, 30)
    kept = sample(reservoir)
    for start, end in [(0, 1000), (0, 500), (200, 700)]:
        rows = np.random.default_rng(0).integers(start, end, size=2000)
        expected = kept[(kept >= start) & (kept < end)]
        assert reservoir.num_kept(start, end) == len(expected)
        np.testing.assert_array_equal(np.unique(reservoir.take(rows, start, end)["y"]), expected)


def test_draws_with_a_chunk_are_uniform_over_all_rows():
    """Of rows that were seen and rows of the chunk alike: the mean row number tells."""
    drawn = []
    for seed in range(300):
        rows = RowView(filled(900, 50, 100, seed), numbers(900, 1000))
        drawn.append(rows.draw(np.random.default_rng(seed), (200,), 0, 1000)["y"])
    share_of_chunk = np.mean(np.array(drawn) >= 900)
    assert abs(share_of_chunk - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 60_000)
    means = np.mean(drawn, axis=1)
    assert abs(means.mean() - 499.5) < 4 * means.std() / np.sqrt(300)


def test_stand_ins_count_for_all_rows():
    rows = RowView(filled(1000, 100, 30), numbers(1000, 1040))
    chunk, counts = rows.weighted_sample(1020)
    assert counts.sum() == pytest.approx(1020)
    np.testing.assert_array_equal(chunk["y"][-20:], np.arange(1000, 1020))
    np.testing.assert_array_equal(counts[-20:], 1.0)
    np.testing.assert_array_equal(np.sort(chunk["y"][:100]), sample(filled(1000, 100, 30)))


def test_restored_it_goes_on_as_if_nothing_had_happened(tmp_path):
    for rows in (50, 100, 730):
        first = filled(rows, 100, 30)
        second = Reservoir.restored(first.state(tmp_path), tmp_path)
        for history in (first, second):
            history.append(numbers(rows, rows + 500))
        np.testing.assert_array_equal(sample(first), sample(second))
        np.testing.assert_array_equal(first.between(rows + 400, rows + 500)["y"], np.arange(rows + 400, rows + 500))


def test_impossible_sizes_are_refused():
    with pytest.raises(sgais.ConfigError, match="`size` must be a whole number of at least 2, got 1"):
        Reservoir(1)
