"""How much of the paper is run: everything that may be chosen is here, and nothing of it elsewhere."""

from dataclasses import dataclass

PAPER, DEFAULT, AIS, NESTED, REFERENCE = "sgais, as published", "sgais, default", "ais", "nested", "reference"
AIS_DEFAULT, NESTED_DEFAULT = "ais, default", "nested, default"
PROBLEMS = ("linear", "logistic", "mixture")
# The simulated data on which a problem is shown; 0 where nothing is said. Of the mixture the typical ones of eleven: on
# half of the others the published runs do better, on half of them worse (data_sets.py).
DATA_SETS = {"mixture": 3}
COMPONENTS = (3, 5, 7)  # of the mixtures that compete under distribution shift
PUBLISHED_LIMIT = 4000.0  # seconds; "we only run AIS on data sets small enough to finish within 4000 s"

# Section 6.1. The mini-batch is also the chunk; the target is a fraction of the particles.
PUBLISHED = {
    "target_ess_fraction": 0.5,
    "learning_rate": 0.1,
    "num_particles": 10,
    "num_steps": 20,
    "batch_size": 500,
}
PRODUCT = PUBLISHED["learning_rate"] * PUBLISHED["num_steps"]  # kept constant where both are varied
LEARNING_RATE_WITH_STEPS = "learning_rate_with_steps"
# The paper names only some of the values (ESS 1, learning rates 0.01 and 1.0); the others are ours.
VARIED: dict[str, tuple[float, ...]] = {
    "target_ess_fraction": (0.1, 0.3, 0.5, 0.7, 0.9),
    "learning_rate": (0.01, 0.03, 0.1, 0.3),
    LEARNING_RATE_WITH_STEPS: (0.02, 0.05, 0.1, 0.25, 1.0),
    "num_particles": (5, 10, 20, 40),
    "num_steps": (5, 10, 20, 40),
    "batch_size": (100, 200, 500, 1000, 2000),
}


@dataclass(frozen=True)
class Settings:
    """One version of the experiments.

    Attributes:
        name: "quick", "full", ...
        limit: Seconds after which a timed run is stopped; one that would need more, by those on fewer rows, is not
            begun. Runs that are not timed may take as long as in the paper once they are begun.
        data_rows: Rows of the largest data set; all others are its first rows.
        rows: Rows that SGAIS takes in; the last of `sizes`.
        sizes: Rows at which AIS, nested sampling and the reference are run, rising.
        seeds: Of SGAIS as published.
        default_seeds: Of SGAIS by default.
        timed_seeds: Those of all methods whose times are taken on the most rows. The others count for accuracy, and
            need not be alone.
        nested_seeds: Of nested sampling; on fewer rows the first is timed.
        ais_seeds: Of annealed importance sampling.
        data_sets: Of the mixture, that the published algorithm sees to tell how much depends on them.
        data_set_rows: Rows of each.
        data_set_seeds: Of the runs on them.
        shift_rows: Rows of the data that change, 1 % of which are the first phase and 9 % the second.
        shift_seeds: Of the runs on them.
        shift_methods: Which versions of SGAIS see them.
        sensitivity_rows: Rows of the mixture on which single parameters are varied.
        sensitivity_seeds: Of the runs on them; the first is timed.
        appendix_sizes: Rows of appendix A, with the published settings.
        appendix_default_sizes: The same with ours.
        appendix_runs: Runs of each method at each size.
    """

    name: str
    limit: float
    data_rows: int
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    default_seeds: tuple[int, ...]
    timed_seeds: tuple[int, ...]
    nested_seeds: tuple[int, ...]
    ais_seeds: tuple[int, ...]
    data_sets: tuple[int, ...]
    data_set_rows: int
    data_set_seeds: tuple[int, ...]
    shift_rows: int
    shift_seeds: tuple[int, ...]
    shift_methods: tuple[str, ...]
    sensitivity_rows: int
    sensitivity_seeds: tuple[int, ...]
    appendix_sizes: tuple[int, ...]
    appendix_default_sizes: tuple[int, ...]
    appendix_runs: int

    @property
    def rows(self) -> int:
        """The longest stream."""
        return self.sizes[-1]


FULL = Settings(
    name="full",
    limit=600.0,
    data_rows=1_000_000,
    sizes=(1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    seeds=(0, 1, 2, 3, 4),
    default_seeds=(0, 1, 2),
    timed_seeds=(0, 1, 2),
    nested_seeds=(0, 1, 2),
    ais_seeds=(0,),
    data_sets=tuple(range(11)),
    data_set_rows=100_000,
    data_set_seeds=(0, 1, 2),
    shift_rows=100_000,
    shift_seeds=(0, 1, 2),
    shift_methods=(PAPER, DEFAULT),
    sensitivity_rows=1_000_000,
    sensitivity_seeds=(0, 1, 2, 3, 4),
    appendix_sizes=tuple(range(20, 1001, 20)),
    appendix_default_sizes=tuple(range(20, 1001, 20)),
    appendix_runs=5,
)
QUICK = Settings(
    name="quick",
    limit=60.0,
    data_rows=1_000_000,
    sizes=(1000, 10_000, 100_000),
    seeds=(0, 1, 2),
    default_seeds=(0,),
    timed_seeds=(0, 1, 2),
    nested_seeds=(0,),
    ais_seeds=(0,),
    data_sets=(),
    data_set_rows=100_000,
    data_set_seeds=(),
    shift_rows=100_000,
    shift_seeds=(0,),
    shift_methods=(PAPER,),
    sensitivity_rows=100_000,
    sensitivity_seeds=(0,),
    appendix_sizes=(20, *range(100, 1001, 100)),
    appendix_default_sizes=(),
    appendix_runs=5,
)
# Shows in two minutes that everything works; its numbers say nothing.
TINY = Settings(
    name="tiny",
    limit=60.0,
    data_rows=2000,
    sizes=(500, 2000),
    seeds=(0,),
    default_seeds=(0,),
    timed_seeds=(0, 1, 2),
    nested_seeds=(0,),
    ais_seeds=(0,),
    data_sets=(0, 1),
    data_set_rows=2000,
    data_set_seeds=(0,),
    shift_rows=10_000,
    shift_seeds=(0,),
    shift_methods=(PAPER,),
    sensitivity_rows=2000,
    sensitivity_seeds=(0,),
    appendix_sizes=(20, 100),
    appendix_default_sizes=(),
    appendix_runs=2,
)
VERSIONS = {settings.name: settings for settings in (QUICK, FULL, TINY)}
