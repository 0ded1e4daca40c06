"""Every threshold of the default that docs/accuracy.md cites, and the others that are decisions, each with its reason.

What is in parts that other estimators share is there: how islands diverge (`smc/islands.py`), what a reference is made
of (`approximation/reference.py`), when searches are believed (`approximation/modes/unseen_modes.py`), when trajectories
end (`kernels/hmc.py`). Sizes of blocks and batches that change the speed alone are where they are used.
"""

from sgais.approximation.modes.mode_search import Limits

# How many particles, and which rows they see
FEW_ROWS = 128  # below which there are most particles: modes are found now or never
MANY_ROWS = 4096  # from which on there are `num_particles`
EXACT_ROWS = 4096  # up to which moves see all rows, which costs no more than mini-batches
FIRST_PIECE = 64  # rows, or
FIRST_PER_PARAMETER = 4  # rows for each parameter, if that is more; from there on pieces double the data
GRADIENT_PIECES = 4  # of a doubling of the rows where a gradient carries the past: few steps, short passes

# Exact phase: moves
LONG_MOVES = 256  # rows up to which moves are as long as they need be; beyond, outright estimates mend what is left
SHORT_MOVE = 6  # trajectories, then
FRESH = 0.9  # ESS fraction above which resampling and moving would gain nothing
GOOD_SKETCH = 0.7  # ESS fraction of what a sketch has left to weigh, below which the move is made on all rows

# Sketches
SKETCHED_ROWS = 1024  # beyond which moves see a sketch: all of fewer rows cost little more
SKETCH_SHARE, SMALLEST_SKETCH, LARGEST_SKETCH = 1 / 4, 512, 2048  # of the rows; rows; rows
SKETCH_POSITIONS = 384  # at least, at which a sample is calibrated
SKETCH_STRIDES = (0.3, 1.0)  # of steps along the difference of two particles, which lead to more positions like them
SKETCH_HOPELESS = 50.0  # nats below all particles, at which a position says nothing of the posterior
LARGEST_NEGATIVE_SHARE = 0.1  # of a sketch's weights: more of them, and its posterior need not be one
SKETCH_RIDGE = 1e-4  # of the mean eigenvalue: without it, weights would be large and of both signs for hardly any gain

# Outright estimates: annealing from a reference
OUTRIGHT_TARGET_ESS = 0.7  # fraction, of each step from the reference to the posterior
OUTRIGHT_STEPS = 60  # after which the reference is no good
OUTRIGHT_TRAJECTORIES = 6  # of a move, at most: the reference is near, and slow directions are right from the start
OUTRIGHT_DRAWS = 2048  # of the reference
MORE_DRAWS = 4  # times as many, where that is enough to do without moves, each of which costs more
FEWEST_EFFECTIVE = 100  # draws, for an estimate of log Z; particles take as many as there are of them
LARGEST_SHAPE = 0.6  # Pareto k of weights: the variance of their mean is finite below 0.5, and known up to about 0.7
SMALLEST_SKETCH_ESS = 0.5  # fraction, of the last weighing, below which the sketch was no good

# Outright estimates: when, and which of two numbers to believe
OUTRIGHT_GROWTH = 1.3  # of the rows, from one outright estimate to the next
LATER_OUTRIGHT_GROWTH = 2.0  # the same where rows are many, or errors small
SEARCH_GROWTH = 4  # of the rows, from one search for modes to the next, once there are surrogates
LARGE_ERROR = 0.05  # nats, of a curve that had better be taken outright soon
SMALL_ERROR, FAIR_ERROR = 0.01, 0.03  # nats, above which particles' weights are not relied on, where draws are good
FEW_TO_SEE = 65536  # rows up to which the first holds, then the second
GOOD_ERROR = 0.1  # nats, of importance sampling that is better than any path
SHORTER = 2  # times, by which the way of an outright estimate is to be shorter than the path
LARGER_ERROR = 2.0  # times the path's, up to which an outright estimate with a shorter way is better
TOLERATED_GAP = 1.0  # errors of both, by which an annealed estimate may be lower than the path and still replace it
LARGEST_LACK = 0.2  # nats by which one estimate may be lower than another, beyond their errors
LARGEST_GAP = 0.5  # nats by which an outright estimate may be lower than the path, beyond their errors, unwarned
ERROR_PER_STEP = 0.02  # nats that a move which does not quite mix may cost, on all islands alike

# The bank of modes
NEWTON_STEPS = 50
WITH_LABELS = Limits(num_starts=12, max_rounds=3, num_splits=8, max_steps=NEWTON_STEPS)
WITHOUT_LABELS = Limits(num_starts=4, max_rounds=2, num_splits=0, max_steps=NEWTON_STEPS)
MOST_GIVEN = 8  # particles from which ascents begin
SEARCH_SAMPLES = (4096, 65536)  # rows on which modes are searched for and looked at again, before all rows are seen
SEARCH_HOPELESS = 20.0  # nats below the best on such a sample
MOST_NEW = 3  # modes of one search, the best: others are found by the next
MATTERS = 15.0  # nats below the best mode, beyond which one is not kept: a share of 3e-7, which rows may raise
MOST_KEPT = 6  # modes: each costs a pass of derivatives over every chunk
IMAGE_DRAWS = 512  # of a mode, which tell over how many orders of labels it lies
SMALLEST_IMAGE = 0.01  # share of them
HIDDEN_MODE = 5.0  # nats by which log Z may exceed Laplace's evidence of all modes that are known
PARTICLES_PER_MODE = 8  # at least, where modes are as good as each other

# The hand-over
FIRST_ATTEMPT = 512  # rows at which surrogates are first tried
REACH = 4.0  # standard deviations beyond the typical distance sqrt(d) at which a particle still belongs to a mode
LARGEST_REMAINDER = 6.0  # spread of the log posterior beyond second order, above which surrogates are of no use yet
DRAWS_PER_PARTICLE = 4  # where particles are drawn anew: draws that mirror each other are no two particles

# Quadratic phase: importance sampling around the surrogates
GOOD_DRAWS_ERROR = 0.03  # nats, at which there are no more rounds
PLAIN_DRAWS_ERROR = 0.004  # the same after the very first rounds, which may not have met the largest weights
OLD_ANCHOR = (
    1.1  # rows over those at an anchor, from which on a new one is worth a pass over the rows if draws are poor
)
SMALLEST_DRAWS_ESS = 0.2  # of the draws
LARGEST_OUTSIDE = 0.02  # share of draws that leave the order of the labels, beyond which these overlap
ROUNDING = 0.005  # nats that float32 may cost at least: of few rows, too, and of the surrogates' own arithmetic

# Quadratic phase: remainders
ALL_ROWS = 16384  # up to which remainders are taken over all rows
FIRST_SAMPLE = 4096  # rows from which a remainder is estimated beyond that
LARGEST_SAMPLE = 262_144  # rows to which that sample grows, fourfold at a time
LARGEST_NOISE = 0.1  # of a log weight, from the sampling of rows
GOOD_NOISE = 0.02  # nats of log Z, from the sampling of rows, which all particles share

# Quadratic phase: weighing
GROWTHS = (1 / 64, 1 / 2)  # of the rows between two weighings
LARGEST_DRIFT = 0.03  # nats that the surrogates alone may be off before the particles are weighed for the curve
MOVED = 0.5  # standard deviations of a surrogate's centre, after which they are weighed as well while rows are few
FORGETTING = 0.5  # of the drift from one weighing to the next: one that is small by luck does not count as none
COLLAPSE = 0.2  # ESS fraction of one weighing below which it is rolled back
NEARLY_GAUSSIAN = 0.99  # ESS fraction of a weighing, above which old anchors will do
FEW_TO_SAMPLE = 65536  # rows up to which a sample of them, where not all are kept, tells enough for new anchors

# Moves on mini-batches
LARGEST_TEMPERATURE = 1.1  # kinetic, above which the step is shortened
SHORTEN = 0.7  # the factor
SHORTEST = 0.5  # of the kernel's step: below it moves hardly get anywhere
BATCH_GROWTH = 4  # few sizes, few compilations
LARGEST_BATCH = 16384  # rows
LARGEST_BATCH_SHARE = 1 / 16  # of all rows: with more, exact moves on all of them, where these are kept, cost no more
QUADRATIC_NOISE_SHARE = 0.25  # of the gradient's noise in all noise of the dynamics
GRADIENT_NOISE_SHARE = 0.7  # the same without Hessians, in the worst coordinate

# Gradient phase
SPREAD = 0.7  # of the islands: moves are many, and each migration books log Z with a bias unless it is small
METRIC_ROWS = 16  # per parameter, from which the curvature at the anchor is estimated
FEWEST_METRIC_ROWS = 4096
ANCHOR_SHARE = 0.1  # of the noise that may come from the anchor's distance to the particles' mean
ANCHOR_ERROR = 0.5  # nats that may be lost where the anchor's gradient comes from a sample of rows

# A change of the data
COMPARED_ROWS = 4096  # of either side that are looked at
FEWEST_COMPARED = 256  # of either side, so that their means are Gaussian
WINDOWS = 8  # into which all rows are cut at the most: a change that matters is seen in an eighth of them
ROWS_PER_PARAMETER = 8  # from which on a particle says something about rows that it has not seen
LARGEST_DIFFERENCE = 7.0  # standard errors: looked for at every piece, on data that have heavy tails
SAME_CHANGE = 1.25  # rows over those at a change, up to which another one is taken for the same
FORGOTTEN = 16  # rows over those at a change, from which on it no longer matters
