"""Every method has an adapter, and every peer the versions that it runs with."""

from pathlib import Path

import pytest

from benchmarks.peers import adapters
from benchmarks.peers.methods import DEFAULT, METHODS
from benchmarks.peers.task import Task, lock_of


@pytest.mark.parametrize("name", METHODS)
def test_a_method_can_be_run(name):
    method = METHODS[name]
    assert (Path(adapters.__file__).parent / f"{method.adapter}.py").exists()
    if method.is_peer:
        assert "==" in lock_of(method.environment).read_text()


def test_no_two_methods_share_their_runs():
    assert len({Task("linear", name, 1000, 0).key for name in METHODS}) == len(METHODS)
    assert not METHODS[DEFAULT].is_peer
