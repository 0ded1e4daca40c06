"""Which runs are made, and which are not begun."""

import pytest

from benchmarks.peers import runner
from benchmarks.peers.cache import Cache
from benchmarks.peers.outcome import COMPLETE, FAILED, NOT_BEGUN, OUT_OF_TIME, Outcome
from benchmarks.peers.settings import Settings

SETTINGS = Settings(rows=(100, 1000, 10_000), limit=10.0, seeds=3, slow=5.0, problems=("linear",))


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


def run(cache, method, make):
    return [(task.rows, task.seed, outcome.ending) for task, outcome in runner.run(SETTINGS, cache, [method], make)]


def takes(seconds_per_row):
    def make(task, limit):
        seconds = seconds_per_row * task.rows
        return Outcome(COMPLETE if seconds < limit else OUT_OF_TIME, seconds=seconds, limit=limit)

    return make


def test_a_run_that_is_not_slow_is_repeated(cache):
    assert run(cache, "dynesty", takes(0.004)) == [
        *((100, seed, COMPLETE) for seed in range(3)),
        *((1000, seed, COMPLETE) for seed in range(3)),
        (10_000, 0, OUT_OF_TIME),
    ]


def test_a_slow_run_is_not_repeated_and_ten_times_the_rows_are_not_begun(cache):
    assert run(cache, "dynesty", takes(0.006)) == [
        *((100, seed, COMPLETE) for seed in range(3)),
        (1000, 0, COMPLETE),
        (10_000, 0, NOT_BEGUN),
    ]


@pytest.mark.parametrize("ending", [OUT_OF_TIME, FAILED])
def test_more_rows_are_not_begun_once_fewer_were_too_many(cache, ending):
    begun = []

    def make(task, limit):
        begun.append(task.rows)
        return Outcome(ending, limit=limit)

    assert run(cache, "dynesty", make) == [(100, 0, ending), (1000, 0, NOT_BEGUN), (10_000, 0, NOT_BEGUN)]
    assert begun == [100]


def test_what_was_made_is_not_made_again(cache):
    first = run(cache, "dynesty", takes(0.0001))

    def refuse(task, limit):
        raise AssertionError(task)

    assert run(cache, "dynesty", refuse) == first


def test_a_run_is_made_in_a_process_of_its_own():
    task = runner.Task("linear", "our Laplace", 1000, 0)
    outcome = runner.make(task, limit=60.0)
    assert outcome.ending == COMPLETE, outcome.words
    assert abs(outcome.log_evidence - outcome.truth) < 0.01, "exact for a Gaussian posterior, but for float32"
    assert outcome.seconds > 0
    assert outcome.compile_seconds > 0
    assert outcome.peak_megabytes > 50
