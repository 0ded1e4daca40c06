import numpy as np
import pytest

from sgais.compute.blocks import BLOCK_ROWS, SLAB_ROWS, capacity_for, pack, pack_whole, slabs


@pytest.mark.parametrize(
    ("rows", "capacity"), [(1, 32), (32, 32), (33, 512), (500, 512), (513, 8192), (100_000, 131_072)]
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


def test_rows_may_count_less():
    blocks = pack({"y": np.arange(3)}, counts=np.array([1.0, 0.5, 2.0]))
    np.testing.assert_array_equal(blocks.weights.ravel()[:4], [1.0, 0.5, 2.0, 0.0])


@pytest.mark.parametrize("rows", [1, 600, SLAB_ROWS, 2 * SLAB_ROWS + 700])
def test_slabs_hold_every_row_once_in_few_shapes(rows):
    values, counts = np.random.default_rng(0).normal(size=(2, rows))
    parts = slabs({"y": values}, counts=np.abs(counts))
    held = [part.columns["y"].ravel()[part.weights.ravel() > 0] for part in parts]
    np.testing.assert_array_equal(np.concatenate(held), values)
    np.testing.assert_allclose(sum(part.weights.sum(dtype=float) for part in parts), np.abs(counts).sum(), rtol=1e-6)
    assert {part.weights.shape for part in parts} <= {(1, 32), (1, BLOCK_ROWS), (SLAB_ROWS // BLOCK_ROWS, BLOCK_ROWS)}


def test_a_whole_slab_is_not_copied():
    values = np.arange(2 * SLAB_ROWS)
    assert all(np.shares_memory(part.columns["y"], values) for part in slabs({"y": values}))


@pytest.mark.parametrize(("rows", "capacity"), [(1, 32), (100, 512), (513, 1024), (5000, 5120)])
def test_a_whole_data_set_is_padded_less(rows, capacity):
    blocks = pack_whole({"y": np.arange(rows)})
    assert blocks.weights.size == capacity
    assert blocks.weights.sum() == rows
