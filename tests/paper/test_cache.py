"""Runs are found again by what determines them, and by nothing else."""

from dataclasses import replace

import pytest

from experiments.paper.cache import Cache, Run
from experiments.paper.execution import Outcome, Point
from experiments.paper.task import Task, without_repetitions

TASK = Task("mixture", "nested", 1000, 2000, 0, {"num_particles": 5, "batch_size": 100})
POINT = Point(500, -1.5, float("nan"), 0.1, 1, 2.0, 2, 2.0, 3.0)


def run(ending="complete", timed=True, limit=10.0):
    return Run(Outcome(-1.5, 0.1, 2.0, ending, ending, 3, [POINT]), timed, limit, {"sgais": "0.1.0"})


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "runs")


def test_a_run_is_found_again(cache):
    assert cache.find(TASK, 10.0) is None
    cache.keep(TASK, run())
    found = cache.find(TASK, 10.0)
    assert found.outcome._replace(points=[]) == run().outcome._replace(points=[])
    assert found.outcome.points[0]._replace(standard_error=0) == POINT._replace(standard_error=0)
    assert found.versions == {"sgais": "0.1.0"}


@pytest.mark.parametrize(
    "change",
    [
        {"problem": "linear"},
        {"method": "ais"},
        {"rows": 999},
        {"data_rows": 3000},
        {"seed": 1},
        {"parameters": {"num_particles": 5}},
        {"data_set": 1},
    ],
)
def test_whatever_determines_a_run_tells_it_from_others(cache, change):
    cache.keep(TASK, run())
    assert cache.find(replace(TASK, **change), 10.0) is None


def test_the_order_of_parameters_does_not_matter():
    assert TASK.key == replace(TASK, parameters={"batch_size": 100, "num_particles": 5}).key


def test_a_time_is_not_taken_from_a_run_that_was_not_alone(cache):
    cache.keep(TASK, run(timed=False))
    assert cache.find(TASK, 10.0) is not None
    assert cache.find(replace(TASK, timed=True), 10.0) is None


def test_a_run_that_was_stopped_is_made_again_when_it_is_given_more_time(cache):
    cache.keep(TASK, run(ending="out of time", limit=10.0))
    assert cache.find(TASK, 10.0) is not None
    assert cache.find(TASK, 4000.0) is None


def test_deleting_a_file_forgets_one_run(cache):
    other = replace(TASK, seed=1)
    for task in (TASK, other):
        cache.keep(task, run())
    cache.path(TASK).unlink()
    assert cache.find(TASK, 10.0) is None
    assert cache.find(other, 10.0) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"outcome": {}}'])
def test_a_file_that_cannot_be_read_is_a_run_to_be_made_again(cache, text):
    cache.keep(TASK, run())
    cache.path(TASK).write_text(text)
    assert cache.find(TASK, 10.0) is None


def test_a_run_that_several_figures_need_is_made_once_and_timed_if_one_needs_its_time():
    tasks = without_repetitions([TASK, replace(TASK, timed=True), replace(TASK, seed=1), TASK])
    assert [(task.seed, task.timed) for task in tasks] == [(0, True), (1, False)]
