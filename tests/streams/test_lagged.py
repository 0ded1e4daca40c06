import numpy as np
import pytest

from sgais import stream
from sgais.errors import ConfigError, DataError
from sgais.streams import lagged

SERIES = np.random.default_rng(0).normal(size=103)


def joined(chunks):
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in ("x", "y")}


def test_lagged_rows_hold_the_newest_value_first():
    rows = lagged([1.0, 2.0, 3.0, 4.0, 5.0], order=2)
    np.testing.assert_array_equal(rows["x"], [[2, 1], [3, 2], [4, 3]])
    np.testing.assert_array_equal(rows["y"], [3, 4, 5])
    np.testing.assert_array_equal(lagged([1.0, 2.0], order=1)["x"], [[1]])


def test_a_series_too_short_for_the_order_is_refused():
    with pytest.raises(DataError, match="longer than the order 2"):
        lagged([1.0, 2.0], order=2)


@pytest.mark.parametrize("chunk_size", [1, 2, 10, 50, 103, 500])
@pytest.mark.parametrize("order", [1, 3, 12])
def test_a_stream_gives_the_rows_of_the_series(chunk_size, order):
    rows = lagged(stream(SERIES, chunk_size), order)
    chunks = list(rows)
    expected = lagged(SERIES, order)
    for name, values in joined(chunks).items():
        np.testing.assert_array_equal(values, expected[name])
    assert rows.position == rows.total_rows == 103
    assert {len(chunk["y"]) for chunk in chunks[1:-1]} <= {chunk_size}


@pytest.mark.parametrize("chunk_size", [2, 10, 50])
@pytest.mark.parametrize("order", [1, 3, 12])
@pytest.mark.parametrize("make", [lambda: SERIES, lambda: iter(SERIES.tolist())], ids=["array", "generator"])
def test_a_stream_that_starts_later_gives_the_same_chunks(make, chunk_size, order):
    whole = lagged(stream(SERIES, chunk_size), order)
    chunks = []
    for chunk in whole:
        chunks.append((whole.position, chunk))
    for number, (position, _) in enumerate(chunks):
        resumed = list(lagged(stream(make(), chunk_size), order).seek(position))
        assert len(resumed) == len(chunks) - number - 1
        for chunk, (_, expected) in zip(resumed, chunks[number + 1 :], strict=True):
            np.testing.assert_array_equal(chunk["x"], expected["x"])
            np.testing.assert_array_equal(chunk["y"], expected["y"])


def test_single_precision_stays_single():
    chunks = list(lagged(stream(SERIES.astype(np.float32), 10), 2).seek(20))
    assert {chunk["x"].dtype for chunk in chunks} == {np.dtype(np.float32)}


def test_what_is_no_series_is_refused():
    with pytest.raises(DataError, match="must have the one column 'y' of numbers, got .*Map it"):
        next(lagged(stream({"y": SERIES, "z": SERIES}), 2))
    with pytest.raises(ConfigError, match="`series` must be a stream with on_error='raise', got 'skip'"):
        lagged(stream(SERIES, on_error="skip"), 2)
    with pytest.raises(DataError, match="`position` must be at most"):
        lagged(stream(SERIES), 2).seek(104)
    with pytest.raises(DataError, match="`position` must be at most"):
        next(lagged(stream(iter(SERIES.tolist())), 2).seek(104))
