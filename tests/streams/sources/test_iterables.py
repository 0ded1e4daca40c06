import numpy as np
import pytest

from sgais import stream
from sgais.errors import DataError


def rows(count, fail_at=None):
    for number in range(count):
        if number == fail_at:
            raise ConnectionError("the line went dead")
        yield {"y": float(number)}


@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_iterable_that_fails_is_named_with_the_row_reached(prefetch):
    chunks = stream(rows(100, fail_at=25), 10, prefetch=prefetch)
    assert [len(next(chunks)["y"]), len(next(chunks)["y"])] == [10, 10]
    with pytest.raises(DataError, match="generator of rows` must not fail, got ConnectionError after row 24") as caught:
        next(chunks)
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert chunks.position == 20
    with pytest.raises(DataError, match="must be read in one go"):
        next(chunks)


def test_rows_before_the_failure_complete_a_chunk():
    def with_a_bad_row():
        yield {"y": None}
        yield from rows(100, fail_at=20)

    chunks = stream(with_a_bad_row(), 10, on_error="skip")
    assert [len(next(chunks)["y"]), len(next(chunks)["y"])] == [10, 10]


def test_a_chunk_asks_the_iterable_for_no_more_rows_than_it_needs():
    taken = []

    def live():
        for row in rows(100):
            taken.append(row)
            yield row

    next(stream(live(), 10, prefetch=0))
    assert len(taken) == 10


def test_a_generator_can_be_read_only_forward():
    chunks = stream(rows(30), 10)
    assert next(chunks.seek(10))["y"][0] == 10
    with pytest.raises(DataError, match="got a second reading after an error or a `seek`"):
        next(chunks.seek(0))


def test_a_list_can_be_read_again():
    chunks = stream(list(rows(30)), 10)
    assert [chunk["y"][0] for chunk in chunks] == [0, 10, 20]
    assert [chunk["y"][0] for chunk in chunks.seek(0)] == [0, 10, 20]


def test_items_that_are_no_rows():
    chunks = stream([{"y": 1.0}, "text", {"y": 2.0}, 3.0, {"y": "word"}], on_error="skip")
    np.testing.assert_array_equal(next(chunks)["y"], [1, 2, 3])
    assert chunks.num_bad_rows == 2
    with pytest.raises(DataError, match="row 1 must be a dictionary"):
        list(stream([{"y": 1.0}, "text"]))


def test_numbers_arrays_and_rows_with_vectors():
    np.testing.assert_array_equal(next(stream(iter(range(3))))["y"], [0, 1, 2])
    np.testing.assert_array_equal(next(stream(iter([np.arange(2), np.arange(2)])))["y"], [0, 1, 0, 1])
    chunk = next(stream(iter([{"x": np.array([1.0, 2.0]), "y": 3.0}])))
    assert chunk["x"].shape == (1, 2)


def test_an_empty_or_unfit_source_is_refused():
    with pytest.raises(DataError, match="must have at least one row, got none"):
        next(stream(iter([])))
    with pytest.raises(
        DataError, match="`source` must be arrays, a table, a path or an iterable of rows, got a object"
    ):
        stream(object())
    with pytest.raises(DataError, match="chunk 1` must have columns of equal length"):
        list(stream(iter([{"x": [1.0], "y": [1.0]}, {"x": [1.0], "y": [1.0, 2.0]}])))


def test_a_bad_row_in_a_chunk_has_its_number_in_the_source():
    with pytest.raises(DataError, match="row 3 column 'y' is missing"):
        list(stream(iter([{"y": [1.0, 2.0]}, {"y": [3.0, np.nan]}])))
