"""What a run will roughly take, for the time that is left; seconds of one core of a desktop computer."""

from experiments.paper import settings
from experiments.paper.task import Task

# Microseconds per row, measured at 1e5 to 1e6 rows of the three models.
STREAM_COSTS = {"linear": 5.0, "logistic": 15.0, "mixture": 25.0}
DEFAULT_COSTS = {"linear": 5.0, "logistic": 10.0, "mixture": 15.0}
DEFAULT_STARTS = {"linear": 5.0, "logistic": 20.0, "mixture": 60.0}  # seconds until both phases are under way
NESTED_COSTS = {"linear": 60.0, "logistic": 300.0, "mixture": 250.0}
AIS_COSTS = {"linear": 400.0, "logistic": 4000.0, "mixture": 4000.0}
REFERENCE_COSTS = {"linear": 1.0, "logistic": 100.0, "mixture": 100.0}
DEFAULT_WHOLE = {settings.AIS_DEFAULT: 1.5, settings.NESTED_DEFAULT: 9.0}  # seconds on the few rows of appendix A
START = 4.0  # seconds of compilation, more or less


def expected_seconds(task: Task, limit: float) -> float:
    """A guess; only ratios of guesses matter once the first runs are made."""
    problem = task.problem if task.problem in STREAM_COSTS else "mixture"
    if task.method in DEFAULT_WHOLE:
        return DEFAULT_WHOLE[task.method]
    if task.method == settings.DEFAULT:
        return min(DEFAULT_STARTS[problem] + 1e-6 * DEFAULT_COSTS[problem] * task.rows, limit)
    if task.method == settings.PAPER:
        return min(START + 1e-6 * STREAM_COSTS[problem] * task.rows * _effort(task), limit)
    costs = {settings.NESTED: NESTED_COSTS, settings.AIS: AIS_COSTS, settings.REFERENCE: REFERENCE_COSTS}[task.method]
    if task.rows <= 1000:
        return 0.5
    return min(START + 1e-6 * costs[problem] * task.rows, limit)


def _effort(task: Task) -> float:
    """Work per row, over that of the published parameters: each step takes a mini-batch for every particle."""
    published, chosen = settings.PUBLISHED, settings.PUBLISHED | dict(task.parameters)
    particles, steps = (chosen[name] / published[name] for name in ("num_particles", "num_steps"))
    hesitation = max(1.0, (published["learning_rate"] / chosen["learning_rate"]) / steps) ** 0.5
    return 0.5 + 0.5 * particles * steps * hesitation
