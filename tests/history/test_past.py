import numpy as np
from scipy import stats

from sgais.history import Memory, RowView, draw
from sgais.history.memory import SMALLEST_BUFFER


def chunk(start, rows):
    numbers = np.arange(start, start + rows)
    return {"x": np.stack([numbers, -numbers], axis=1).astype(np.float32), "y": numbers.astype(np.int32)}


def test_draws_are_whole_rows_of_the_past():
    history = Memory()
    history.append(chunk(0, 10))
    history.append(chunk(10, 7))
    drawn = draw(history, np.random.default_rng(0), (3, 50))
    assert drawn["x"].shape == (3, 50, 2)
    assert drawn["y"].shape == (3, 50)
    assert drawn["y"].dtype == np.int32
    np.testing.assert_array_equal(drawn["x"][..., 0], drawn["y"])
    assert set(drawn["y"].ravel()) == set(range(17))


def test_growing_keeps_every_row():
    history = Memory()
    for start in range(0, 3 * SMALLEST_BUFFER, 1000):
        history.append(chunk(start, 1000))
    drawn = draw(history, np.random.default_rng(0), (1, 200_000))
    assert len(np.unique(drawn["y"])) == history.num_rows == 13_000
    np.testing.assert_array_equal(drawn["x"][..., 1], -drawn["y"])


def test_draws_are_uniform_with_replacement():
    history = Memory()
    history.append(chunk(0, 40))
    drawn = draw(history, np.random.default_rng(1), (100, 400))["y"]
    assert stats.chisquare(np.bincount(drawn.ravel(), minlength=40)).pvalue > 1e-3
    # Independent draws repeat rows: of 40 draws from 40 rows, 40 (1 - (39/40)^40) = 25.5 are different.
    batches = draw(history, np.random.default_rng(2), (400, 40))["y"]
    assert abs(np.mean([len(np.unique(batch)) for batch in batches]) - 40 * (1 - (39 / 40) ** 40)) < 0.5


def test_the_past_and_a_chunk_read_as_one_stretch_of_rows():
    history = Memory()
    history.append({"y": np.arange(100.0)})
    rows = RowView(history, {"y": np.arange(100.0, 130.0)})
    assert rows.num_rows == 130
    for start, end in [(0, 130), (20, 90), (90, 110), (100, 130), (105, 107), (0, 100)]:
        np.testing.assert_array_equal(rows.between(start, end)["y"], np.arange(start, end))
        drawn = rows.draw(np.random.default_rng(0), (5, 200), start, end)["y"]
        assert drawn.shape == (5, 200)
        assert set(drawn.ravel()) == set(np.arange(start, end)), "every row, and no other, is drawn sooner or later"


def test_a_first_chunk_needs_no_past():
    rows = RowView(Memory(), {"y": np.arange(10.0)})
    np.testing.assert_array_equal(rows.between(0, 10)["y"], np.arange(10.0))
    assert rows.draw(np.random.default_rng(0), (3,), 0, 10)["y"].shape == (3,)


def test_a_buffer_of_the_expected_size_may_still_grow():
    small, roomy = Memory(), Memory(expected_rows=6000)
    for start in range(0, 9000, 3000):
        rows = {"y": np.arange(start, start + 3000.0)}
        small.append(rows)
        roomy.append(rows)
    np.testing.assert_array_equal(roomy.between(0, 9000)["y"], small.between(0, 9000)["y"])
