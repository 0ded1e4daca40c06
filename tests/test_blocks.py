import numpy as np
import pytest

from sgais.blocks import BLOCK_ROWS, capacity_for, pack, pack_whole


@pytest.mark.parametrize(
    ("rows", "capacity"), [(1, 32), (32, 32), (33, 128), (500, 512), (513, 2048), (100_000, 131_072)]
)
def test_few_capacities_serve_all_sizes(rows, capacity):
    assert capacity_for(rows) == capacity


@pytest.mark.parametrize("rows", [1, 31, 512, 513, 5000])
def test_packing_keeps_every_row_once_and_pads_with_true_rows(rows):
    values = np.random.default_rng(0).normal(size=(rows, 3))
    blocks = pack({"x": values})
    np.testing.assert_array_equal(blocks.columns["x"].reshape(-1, 3)[blocks.weights.ravel() == 1], values)
    assert (blocks.columns["x"].reshape(-1, 3)[blocks.weights.ravel() == 0] == values[0]).all()
    assert blocks.weights.shape[1] <= BLOCK_ROWS
    assert blocks.weights[: blocks.num_blocks].any(axis=1).all()
    assert not blocks.weights[blocks.num_blocks :].any()


@pytest.mark.parametrize(("rows", "capacity"), [(1, 32), (100, 128), (513, 1024), (5000, 5120)])
def test_a_whole_data_set_is_padded_less(rows, capacity):
    blocks = pack_whole({"y": np.arange(rows)})
    assert blocks.weights.size == capacity
    assert blocks.weights.sum() == rows
