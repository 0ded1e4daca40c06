"""What is run: all that the paper has, by public names, and no longer than promised."""

import ast
from pathlib import Path

import sgais
from experiments.paper import accuracy_and_speed, appendix_a, sensitivity, settings, shift
from experiments.paper.__main__ import EXPERIMENTS, tasks
from experiments.paper.costs import expected_seconds
from experiments.paper.task import without_repetitions

ROOT = Path(__file__).parents[2]
TWENTY_MINUTES = 1200.0


def test_the_full_version_has_the_sizes_of_the_paper():
    full = settings.FULL
    assert full.rows == full.sensitivity_rows == full.data_rows == 1_000_000
    assert full.shift_rows == 100_000
    assert full.limit <= settings.PUBLISHED_LIMIT
    assert len(full.seeds) >= 3
    assert (len(full.appendix_sizes), full.appendix_runs) == (50, 5)
    assert len(sensitivity.FIGURES) * 3 == 18


def test_parameters_that_are_varied_include_the_published_ones():
    for parameter, values in settings.VARIED.items():
        assert any(sensitivity.parameters_of(parameter, value) == {} for value in values), parameter
        assert list(values) == sorted(values)
    assert sensitivity.parameters_of("learning_rate_with_steps", 1.0) == {"learning_rate": 1.0, "num_steps": 2}


def test_runs_that_figures_share_are_made_once():
    asked = tasks(settings.FULL, list(EXPERIMENTS))
    once = without_repetitions(asked)
    assert len(once) < len(asked)
    assert len({task.key for task in once}) == len(once)


def test_run_times_are_taken_alone_and_the_rest_in_parallel():
    for task in (*accuracy_and_speed.tasks(settings.FULL), *sensitivity.tasks(settings.FULL)):
        if task.seed == 0:
            assert task.timed == (task.method != settings.REFERENCE), "a seed of everything is timed"
        elif task.method == settings.NESTED:
            assert task.timed == (task.rows == settings.FULL.rows), "speed-ups are told there"
        elif task.parameters:
            assert not task.timed, "one is enough where it takes long"
    assert not any(task.timed for task in (*shift.tasks(settings.FULL), *appendix_a.tasks(settings.FULL)))


def test_the_quick_version_is_expected_to_take_twenty_minutes_at_most():
    asked = without_repetitions(tasks(settings.QUICK, list(EXPERIMENTS)))
    seconds = sum(expected_seconds(task, settings.QUICK.limit) / (1 if task.timed else 2) for task in asked)
    assert seconds < TWENTY_MINUTES
    assert max(task.rows for task in asked) == 100_000


def test_the_full_version_is_expected_to_take_two_sittings():
    """Timed runs alone on the machine, then the rest on two cores; what would exceed the limit is not begun."""
    limit = settings.FULL.limit
    asked = without_repetitions(tasks(settings.FULL, list(EXPERIMENTS)))
    begun = {
        timed: [task for task in asked if task.timed == timed and not is_too_long(task)] for timed in (True, False)
    }
    alone, others = (sum(expected_seconds(task, limit) for task in begun[timed]) for timed in (True, False))
    assert alone < 100 * 60
    assert others / 2 < 75 * 60


def is_too_long(task):
    whole = task.method in (settings.AIS, settings.NESTED)
    return whole and expected_seconds(task, float("inf")) > settings.FULL.limit


def test_only_public_names_are_used():
    for path in (ROOT / "experiments" / "paper").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sgais"):
                assert node.module.startswith(("sgais.plots", "sgais.simulate")), f"{path.name}: {node.module}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sgais":
                assert node.attr in (*sgais.__all__, "__version__"), f"{path.name}: {node.attr}"
