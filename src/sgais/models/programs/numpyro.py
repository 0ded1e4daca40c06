"""`from_numpyro`: any NumPyro program with one data plate becomes a `Model`.

The program is run (traced) on a few rows of the first chunk. Its latent sites become the prior, in order,
each conditional on those before it; its observed sites become the log-likelihood per row, discrete latents of a row
summed out of it. What does not fit the contract (a row's own continuous latent, two data plates, rows that depend on
each other) is refused by name.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.distributions import Distribution

from sgais.errors import ModelError
from sgais.fields import Chunk, as_arrays
from sgais.models.base import Model, Parameters, Predictive, Rows
from sgais.models.programs.enumeration import check_discrete, kind_of, plate_depth, row_log_likelihood
from sgais.models.programs.independence import check_rows_are_independent, points_to_check

Site: TypeAlias = dict[str, Any]
Trace: TypeAlias = Mapping[str, Site]

CHECKED_ROWS = 8  # rows of the first chunk on which the program is tried


class NumpyroProgram:
    """A NumPyro program that becomes a `Model` when it sees its first chunk."""

    def __init__(self, program: Callable[..., Any], exchangeable: Sequence[str] = ()) -> None:
        if not callable(program):
            raise ModelError(f"`model_fn` must be a NumPyro model (a function), got {program!r}.")
        self.program, self.exchangeable = program, tuple(exchangeable)
        self._bound: dict[tuple[Any, ...], Model] = {}

    @property
    def fields(self) -> None:
        """The first chunk defines them."""

    @property
    def bound(self) -> None:
        """Nothing is known before the first chunk."""

    def bind(self, chunk: Chunk) -> Model:
        """The model for chunks with these columns, made once for each kind of chunk."""
        kind = tuple((name, values.shape[1:], values.dtype.str) for name, values in sorted(chunk.items()))
        if kind not in self._bound:
            self._bound[kind] = _model_of(self.program, chunk, self.exchangeable)
        return self._bound[kind]

    def __repr__(self) -> str:
        return f"from_numpyro({getattr(self.program, '__name__', self.program)})"


def from_numpyro(
    model_fn: Callable[..., Any], example: object | None = None, exchangeable: Sequence[str] = ()
) -> NumpyroProgram | Model:
    """Use a NumPyro model: observed sites in one plate over the rows, whose discrete latents are summed out.

    Args:
        model_fn: The model. It is called with the columns of a chunk as keyword arguments, so
            `def model(x, y): ...` fits chunks `{"x": ..., "y": ...}`; its data plate has as many rows as they.
        example: A few rows. With them the model is checked at once, without them on the first chunk.
        exchangeable: As for `sgais.Model`: parameters whose leading axis is one of components that can be renamed.

    Example:
        >>> import numpyro
        >>> import numpyro.distributions as dist
        >>> def program(y):
        ...     mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
        ...     with numpyro.plate("rows", y.shape[0]):
        ...         numpyro.sample("y", dist.Normal(mean, 1.0), obs=y)
        >>> sgais.from_numpyro(program, example={"y": np.zeros(3)})
        Model(mean)
    """
    program = NumpyroProgram(model_fn, exchangeable)
    return program if example is None else program.bind(as_arrays(example))


def _model_of(program: Callable[..., Any], chunk: Chunk, exchangeable: Sequence[str]) -> Model:
    _check_arguments(program, chunk)
    rows = {name: values[np.arange(CHECKED_ROWS) % len(values)] for name, values in chunk.items()}
    trace = _structure(program, rows)
    plate = _data_plate(trace, CHECKED_ROWS)
    _check_sites(trace, plate)
    latent = [name for name, site in trace.items() if _is_latent(site)]
    summed_out = [name for name in latent if _is_discrete(trace[name])]
    if latent == summed_out:
        raise ModelError("the NumPyro model has no latent sites, so nothing to integrate over. Add a prior.")
    density = partial(row_log_likelihood, depth=plate_depth(trace)) if summed_out else _row_log_likelihood
    observed = [name for name, site in trace.items() if _is_observed(site)]
    model = Model(
        prior={name: _conditional_prior(program, rows, name) for name in latent if name not in summed_out},
        log_likelihood=partial(density, program),
        exchangeable=exchangeable,
        predictive=None if summed_out else _predictive(program, observed),
        observation=_observation(program, rows, observed),
    )
    check_rows_are_independent(model, rows, "NumPyro")
    _check_prior_ignores_data(program, model, rows)
    return model


def _trace(program: Callable[..., Any], rows: Rows, parameters: Parameters) -> Trace:
    """Run the program on these rows with these values for its latent sites, and note every site."""
    substituted = handlers.substitute(program, data=parameters)
    seeded = handlers.seed(substituted, rng_seed=jax.random.key(0))
    columns = {name: jnp.asarray(values) for name, values in rows.items()}
    trace: Trace = handlers.trace(seeded).get_trace(**columns)
    return trace


def _structure(program: Callable[..., Any], rows: Rows) -> Trace:
    """The sites of the program without their values: an abstract run, which compiles nothing."""
    sites: dict[str, Site] = {}
    try:
        jax.eval_shape(lambda: sites.update(_trace(program, rows, {})))
    except Exception as error:
        shapes = {name: values.shape for name, values in rows.items()}
        kind = type(error).__name__
        if isinstance(error, TypeError) and "must have integer" in str(error):
            raise ModelError(_how_to_index(rows)) from error
        if isinstance(error, NotImplementedError):  # which says nothing: of ImproperUniform, and of flat distributions
            raise ModelError(
                "the NumPyro model must have priors and observations that can be drawn from, got one that cannot. "
                "The evidence needs proper priors: put a wide one in place of ImproperUniform."
            ) from error
        raise ModelError(f"the NumPyro model raised {kind} on rows of shapes {shapes}: {error}") from error
    return sites


def _how_to_index(rows: Rows) -> str:
    whole = [name for name, values in rows.items() if values.dtype.kind == "f" and np.all(values == np.floor(values))]
    return (
        f"the NumPyro model must take whole numbers as indices, got floats in one of the columns {whole}. Hand it over "
        "as integers, column.astype(int), or write so in the program: name.astype(int)."
    )


def _conditional_prior(program: Callable[..., Any], rows: Rows, name: str) -> Callable[[Parameters], Distribution]:
    return lambda parameters: _trace(program, rows, parameters)[name]["fn"]


def _row_log_likelihood(program: Callable[..., Any], parameters: Parameters, rows: Rows) -> jax.Array:
    trace = _trace(program, rows, parameters)
    terms = [site["fn"].log_prob(site["value"]) for site in trace.values() if _is_observed(site)]
    return sum(terms[1:], start=terms[0])


def _predictive(program: Callable[..., Any], observed: list[str]) -> Predictive | None:
    """The distribution of the one observed site; what several sites observe has no distribution of one name."""
    if len(observed) > 1:
        return None
    # A program that can do without an observation is told so by None.
    arguments = inspect.signature(program).parameters.items()
    named = [(name, one) for name, one in arguments if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    required = [name for name, one in named if one.default is one.empty]

    def predictive(parameters: Parameters, rows: Rows) -> Distribution:
        missing = [name for name in required if name not in rows]
        call = partial(program, **dict.fromkeys(missing))
        try:
            return _trace(call, rows, parameters)[observed[0]]["fn"]
        except Exception as error:
            raise ModelError(
                f"the NumPyro model cannot predict from the columns {sorted(rows)}: it raised {type(error).__name__}: "
                f"{error}. Give it all inputs; it must bear None for its observation, as `obs=None` does."
            ) from error

    return predictive


def _observation(program: Callable[..., Any], rows: Rows, observed: list[str]) -> str | None:
    """The column that is handed on to the one observed site as it is."""
    found: list[str] = []

    def note(columns: Rows) -> None:
        value = _trace(program, columns, {})[observed[0]]["value"]
        found.extend(name for name, column in columns.items() if column is value)

    jax.eval_shape(note, rows)
    return found[0] if len(observed) == len(found) == 1 else None


def _is_latent(site: Site) -> bool:
    return site["type"] == "sample" and not site["is_observed"]


def _is_discrete(site: Site) -> bool:
    return site["fn"].support is not None and bool(site["fn"].support.is_discrete)


def _is_observed(site: Site) -> bool:
    return site["type"] == "sample" and bool(site["is_observed"])


def _plates_of(site: Site) -> list[str]:
    return [frame.name for frame in site["cond_indep_stack"]]


def _check_arguments(program: Callable[..., Any], chunk: Chunk) -> None:
    try:
        inspect.signature(program).bind(**chunk)
    except TypeError as error:
        raise ModelError(
            f"the NumPyro model must take the chunk's columns {sorted(chunk)} as arguments, but {error}. "
            "Rename the columns or the arguments; read the number of rows off a column, and fix what is no column: "
            "functools.partial(model, name=value)."
        ) from error


def _data_plate(trace: Trace, num_rows: int) -> str:
    """The one plate that the observed sites live in; its size must be the number of rows."""
    observed = {name: site for name, site in trace.items() if _is_observed(site)}
    if not observed:
        raise ModelError("the NumPyro model has no observed site. Pass a column as `obs=` to a sample site.")
    for name, site in observed.items():
        plates = _plates_of(site)
        if not plates:
            raise ModelError(
                f"the observed site '{name}' is not in a plate. Put it in numpyro.plate('data', number of rows)."
            )
        if len(plates) > 1:
            raise ModelError(
                f"the observed site '{name}' is in {len(plates)} plates, {sorted(plates)}. Keep the plate over "
                "rows and make the others event dimensions with .to_event()."
            )
    plates = sorted({_plates_of(site)[0] for site in observed.values()})
    if len(plates) > 1:
        raise ModelError(f"the observed sites are in two plates, {plates}. Use one plate for all rows.")
    frame = next(frame for site in observed.values() for frame in site["cond_indep_stack"])
    # A plate inside of a scan has no site of its own.
    size, subsample_size = trace[plates[0]]["args"] if plates[0] in trace else (frame.size, None)
    if subsample_size not in (None, size):
        raise ModelError(f"the plate '{plates[0]}' subsamples its rows. Drop `subsample_size`: every row counts.")
    if size != num_rows:
        raise ModelError(
            f"the plate '{plates[0]}' must have one entry per row, but has {size} when tried on {num_rows} rows. "
            "Take its size from a column, e.g. x.shape[0]."
        )
    return plates[0]


def _check_sites(trace: Trace, plate: str) -> None:
    for name, site in trace.items():
        if site["type"] == "param":
            raise ModelError(f"the site '{name}' is a numpyro.param, which has no prior. Make it a sample site.")
        if site["type"] != "sample":
            continue
        if site["scale"] is not None:
            raise ModelError(
                f"the site '{name}' is scaled (numpyro.handlers.scale or a subsampling plate), which would change "
                "its density. Remove the scale."
            )
        if site["is_observed"]:
            continue
        if _is_discrete(site):
            check_discrete(name, site, _plates_of(site), plate)
        elif plate in _plates_of(site):
            raise ModelError(
                f"the latent site '{name}' is in the data plate '{plate}': every row would bring a parameter of "
                f"its own. {_how_to_integrate(name, site, trace)}"
            )


def _how_to_integrate(name: str, site: Site, trace: Trace) -> str:
    """Two Gaussians add up, as in the eight schools; of others nothing can be said."""
    kinds = [kind_of(each) for each in (site, *(one for one in trace.values() if _is_observed(one)))]
    if set(kinds) == {"Normal"}:
        return (
            f"Integrate it out: where '{name}' ~ Normal(m, s) is the mean of an observation with noise t, write "
            "Normal(m, jnp.sqrt(s**2 + t**2)) for the observation."
        )
    return "Integrate it out, or pass the column that it stands for."


def _check_prior_ignores_data(program: Callable[..., Any], model: Model, rows: Chunk) -> None:
    other_rows = {name: np.roll(values[: CHECKED_ROWS // 2], 1, axis=0) for name, values in rows.items()}

    @jax.jit
    def log_priors(position: jax.Array) -> dict[str, list[jax.Array]]:
        parameters = model.constrain(position)
        traces = [_trace(program, data, parameters) for data in (rows, other_rows)]
        return {name: [jnp.sum(t[name]["fn"].log_prob(value)) for t in traces] for name, value in parameters.items()}

    for name, (density, other_density) in log_priors(points_to_check(model)[0]).items():
        if not np.allclose(density, other_density, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise ModelError(
                f"the prior of '{name}' depends on the data. The evidence needs a prior that is fixed beforehand."
            )
