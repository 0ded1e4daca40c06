"""Runs are found again by what determines them."""

from dataclasses import replace

import pytest

from benchmarks.peers.cache import Cache
from benchmarks.peers.outcome import COMPLETE, OUT_OF_TIME, Outcome
from benchmarks.peers.task import Task

TASK = Task("mixture", "dynesty", 1000, 0)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "runs")


def test_a_run_is_found_again(cache):
    assert cache.find(TASK, 10.0) is None
    outcome = Outcome(COMPLETE, "", -1.5, -1.0, 0.1, 2.0, 3.0, 100, None, 200.0, 10.0)
    cache.keep(TASK, outcome)
    assert cache.find(TASK, 10.0) == outcome


@pytest.mark.parametrize("change", [{"problem": "linear"}, {"method": "UltraNest"}, {"rows": 999}, {"seed": 1}])
def test_whatever_determines_a_run_tells_it_from_others(cache, change):
    cache.keep(TASK, Outcome(COMPLETE))
    assert cache.find(replace(TASK, **change), 10.0) is None


def test_a_run_of_other_code_or_versions_is_made_again(cache):
    cache.keep(TASK, Outcome(COMPLETE))
    path = cache.path(TASK)
    path.write_text(path.read_text().replace(TASK.key, "0" * len(TASK.key)))
    assert cache.find(TASK, 10.0) is None


def test_a_run_that_was_stopped_is_made_again_when_it_is_given_more_time(cache):
    cache.keep(TASK, Outcome(OUT_OF_TIME, limit=10.0))
    assert cache.find(TASK, 10.0) is not None
    assert cache.find(TASK, 600.0) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"no": 1}'])
def test_a_file_that_cannot_be_read_is_a_run_to_be_made_again(cache, text):
    cache.keep(TASK, Outcome(COMPLETE))
    cache.path(TASK).write_text(text)
    assert cache.find(TASK, 10.0) is None
