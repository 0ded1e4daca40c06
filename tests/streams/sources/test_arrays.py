import numpy as np
import pytest

from sgais import stream
from sgais.errors import ConfigError, DataError


def test_chunks_hold_every_row_in_order():
    data = {"x": np.arange(22).reshape(11, 2), "y": np.arange(11)}
    chunks = list(stream(data, chunk_size=4))
    assert [len(chunk["y"]) for chunk in chunks] == [4, 4, 3]
    np.testing.assert_array_equal(np.concatenate([chunk["x"] for chunk in chunks]), data["x"])


def test_a_bare_array_is_the_column_y():
    assert [list(chunk["y"]) for chunk in stream([1, 2, 3], chunk_size=2)] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("source", "size", "error", "message"),
    [
        ({"x": [1], "y": [1, 2]}, 5, DataError, "equal length"),
        ([], 5, DataError, "at least one row"),
        ([1], 0, ConfigError, "`chunk_size` must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_sources_are_refused_at_the_call(source, size, error, message):
    with pytest.raises(error, match=message):
        stream(source, size)
