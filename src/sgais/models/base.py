"""The contract of a model: a prior and a log-likelihood per row, seen from R^d.

Estimators and kernels know nothing but this file: positions are vectors in R^d, mapped to constrained
parameters by NumPyro's `biject_to`, and `log_prior_at` carries the log-Jacobian of that map, so that
integrals over R^d are integrals over the parameters.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.distributions import Delta, Distribution, biject_to

from sgais.errors import ModelError, require
from sgais.fields import Chunk, Field, Fields

Parameters: TypeAlias = dict[str, jax.Array]
Rows: TypeAlias = Mapping[str, Any]
LogLikelihood: TypeAlias = Callable[[Parameters, Rows], jax.Array]
Predictive: TypeAlias = Callable[[Parameters, Rows], Distribution]
Starts: TypeAlias = Callable[[Chunk, np.random.Generator], Mapping[str, Any]]
PriorPart: TypeAlias = Distribution | Callable[[Parameters], Distribution]


class Layout(NamedTuple):
    """Where one parameter lives in a position: its slice of R^d and the shape of that slice."""

    place: slice
    shape: tuple[int, ...]


class ModelLike(Protocol):
    """A model, or a program that becomes one when it sees its first chunk (`sgais.from_numpyro`)."""

    @property
    def fields(self) -> Fields | None:
        """The columns that a chunk must have; None where the first chunk defines them."""

    @property
    def bound(self) -> "Model | None":
        """The model, where it is one before any chunk has been seen."""

    def bind(self, chunk: Chunk) -> "Model":
        """The model for chunks like this one."""


class Model:
    """A prior over named parameters and the log-likelihood of each row.

    Args:
        prior: For each parameter a NumPyro distribution, or a function from the parameters above it in the
            dictionary to a distribution (so that priors may depend on each other).
        log_likelihood: `log_likelihood(parameters, rows)` returns the log density of every row, shape
            (rows,). `parameters` are constrained values by name, `rows` the columns of a chunk by name.
        fields: The columns that a chunk must have. Where omitted, the first chunk defines them.
        exchangeable: Parameters whose leading axis is one of labels that mean nothing (the components of a
            mixture): the prior and the likelihood stay the same when all of them are reordered alike.
        predictive: `predictive(parameters, rows)` returns the NumPyro distribution that each row's observation has,
            given its inputs (the columns of `rows`). Only needed for predictions.
        observation: The column that `predictive` is of; `y`, or the only column there is, if omitted.
        starts: `starts(rows, generator)` returns parameters by name, constrained, at which a search for modes may
            begin: a guess from some thousand rows (NumPy arrays by column) and a NumPy generator, another one at each
            call. Worth having where draws from the prior seldom lead to the best mode. It biases nothing.

    Example:
        >>> import numpyro.distributions as dist
        >>> model = sgais.Model(
        ...     prior={"rate": dist.Gamma(2.0, 1.0)},
        ...     log_likelihood=lambda parameters, rows: dist.Poisson(parameters["rate"]).log_prob(rows["y"]),
        ... )
    """

    def __init__(
        self,
        prior: Mapping[str, PriorPart],
        log_likelihood: LogLikelihood,
        fields: Mapping[str, Field] | None = None,
        exchangeable: Sequence[str] = (),
        predictive: Predictive | None = None,
        starts: Starts | None = None,
        observation: str | None = None,
    ) -> None:
        if not prior:
            raise ModelError("`prior` must name at least one parameter, got none.")
        if not callable(log_likelihood):
            raise ModelError(f"`log_likelihood` must be a function, got {log_likelihood!r}.")
        if starts is not None and not callable(starts):
            raise ModelError(f"`starts` must be a function of rows and a generator, got {starts!r}.")
        self.prior = dict(prior)
        self.log_likelihood = log_likelihood
        self.predictive = predictive
        self.starts = starts
        self.observation = observation
        self.fields: Fields | None = None if fields is None else dict(fields)
        self.layout = self._lay_out()
        self.dimension = sum(int(np.prod(part.shape)) for part in self.layout.values())
        self.exchangeable = tuple(exchangeable)
        self.num_labels = self._count_labels()

    def __repr__(self) -> str:
        return f"Model({', '.join(self.prior)})"

    @property
    def bound(self) -> "Model":
        """Itself."""
        return self

    def bind(self, chunk: Chunk) -> "Model":  # noqa: ARG002, a NumPyro program needs the chunk
        """The model for chunks like this one: itself. Only a NumPyro program has to wait for data."""
        return self

    def sample_prior(self, key: jax.Array, num_draws: int) -> jax.Array:
        """Draws from the prior as positions, shape (num_draws, dimension)."""
        return jax.vmap(self._sample_position)(jax.random.split(key, num_draws))

    def constrain(self, position: jax.Array) -> Parameters:
        """The parameters at one position."""
        parameters: Parameters = {}
        for name, distribution in self._prior_parts(parameters):
            parameters[name] = _transform(distribution)(self._unconstrained(position, name))
        return parameters

    def unconstrain(self, parameters: Mapping[str, Any]) -> jax.Array:
        """The position of given parameters: the inverse of `constrain`."""
        known: Parameters = {}
        parts = []
        for name, distribution in self._prior_parts(known):
            known[name] = jnp.asarray(parameters[name])
            parts.append(jnp.ravel(_transform(distribution).inv(known[name])))
        return jnp.concatenate(parts)

    def in_units(self, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Draws of the parameters in the units of the data, where these are others; leading axis draws."""
        return {name: np.asarray(values) for name, values in parameters.items()}

    def observed(self, rows: Rows) -> tuple[str, np.ndarray | None]:
        """What `predictive` is of: its name, and what it was in these rows, where that is known."""
        name = self.observation or ("y" if "y" in rows or len(rows) > 1 else next(iter(rows)))
        return name, np.asarray(rows[name]) if name in rows else None

    def log_prior_at(self, position: jax.Array) -> jax.Array:
        """Log density of the prior on R^d: of the parameters, plus the log-Jacobian of `constrain`."""
        parameters: Parameters = {}
        total = jnp.zeros((), position.dtype)
        for name, distribution in self._prior_parts(parameters):
            transform, value = _transform(distribution), self._unconstrained(position, name)
            parameters[name] = transform(value)
            total += jnp.sum(distribution.log_prob(parameters[name]))
            total += jnp.sum(transform.log_abs_det_jacobian(value, parameters[name]))
        return total

    def prior_at(self, parameters: Parameters) -> dict[str, Distribution]:
        """The prior of every parameter, given those above it."""
        known: Parameters = {}
        found = {}
        for name, distribution in self._prior_parts(known):
            known[name], found[name] = parameters[name], distribution
        return found

    def log_likelihood_at(self, position: jax.Array, rows: Rows) -> jax.Array:
        """Log-likelihood of every row at one position, shape (rows,)."""
        return self.log_likelihood(self.constrain(position), rows)

    def check_log_likelihood(self, chunk: Chunk) -> None:
        """Refuse a log-likelihood that fails on such a chunk or does not give one number per row."""
        rows = 7  # unlike most dimensions, so that a sum over the wrong axis shows
        block = {name: _shape((rows, *v.shape[1:]), v.dtype) for name, v in chunk.items()}
        position = _shape((self.dimension,), real_dtype())
        try:
            result = jax.eval_shape(self.log_likelihood_at, position, block)
        except Exception as error:
            shapes = {name: tuple(struct.shape) for name, struct in block.items()}
            raise ModelError(
                f"`log_likelihood` raised {type(error).__name__} on rows of shapes {shapes}: {error}"
            ) from error
        shape = getattr(result, "shape", None)
        if shape != (rows,):
            raise ModelError(
                f"`log_likelihood` must return one number per row, shape ({rows},) for {rows} rows, "
                f"got {shape}. Do not sum over rows; do sum over the parts of one row."
            )

    def _prior_parts(self, parameters: Parameters) -> Iterator[tuple[str, Distribution]]:
        """Each parameter's name and prior; the caller fills in `parameters`, which later priors may need."""
        for name, part in self.prior.items():
            # Distributions are callable themselves, so the type decides.
            yield name, part if isinstance(part, Distribution) else _resolve(name, part, parameters)

    def _unconstrained(self, position: jax.Array, name: str) -> jax.Array:
        place, shape = self.layout[name]
        return position[place].reshape(shape)

    def _sample_position(self, key: jax.Array) -> jax.Array:
        parameters: Parameters = {}
        keys = iter(jax.random.split(key, len(self.prior)))
        parts = []
        for name, distribution in self._prior_parts(parameters):
            parameters[name] = jnp.asarray(distribution.sample(next(keys)))
            parts.append(jnp.ravel(_transform(distribution).inv(parameters[name])))
        return jnp.concatenate(parts).astype(real_dtype())

    def _count_labels(self) -> int:
        """The length of the exchangeable parameters' leading axis; 1 if there are none."""
        if not self.exchangeable:
            return 1
        unknown = [name for name in self.exchangeable if name not in self.prior]
        if unknown:
            raise ModelError(f"`exchangeable` must name parameters of {sorted(self.prior)}, got {unknown[0]!r}.")
        parameters = jax.eval_shape(self.constrain, _shape((self.dimension,), real_dtype()))
        shapes = {name: parameters[name].shape for name in self.exchangeable}
        counts = {shape[:1] for shape in shapes.values()}
        if len(counts) > 1 or () in counts:
            raise ModelError(f"`exchangeable` must name parameters with the same leading axis, got {shapes}.")
        return int(counts.pop()[0])

    def _lay_out(self) -> dict[str, Layout]:
        """Find the place of every parameter in R^d from the shapes of one (abstract) prior draw."""
        layout: dict[str, Layout] = {}

        def draw_and_note(key: jax.Array) -> Parameters:
            parameters: Parameters = {}
            start = 0
            for name, distribution in self._prior_parts(parameters):
                parameters[name] = _sample(name, distribution, key)
                shape = tuple(_transform(distribution).inverse_shape(parameters[name].shape))
                size = int(np.prod(shape))
                layout[name] = Layout(slice(start, start + size), shape)
                start += size
            return parameters

        jax.eval_shape(draw_and_note, jax.random.key(0))
        return layout


def require_model(model: object, name: str = "model") -> None:
    """Refuse what is no model; `name` is that of the argument."""
    cure = "Wrap a NumPyro function in sgais.from_numpyro."
    require(hasattr(model, "bind"), name, "be a sgais.Model", model, cure)


def real_dtype() -> np.dtype:
    """float32, or float64 where the user has switched on `jax_enable_x64`."""
    return np.dtype(jax.dtypes.canonicalize_dtype(float))


def _resolve(name: str, part: object, parameters: Parameters) -> Distribution:
    try:
        distribution = part(dict(parameters)) if callable(part) else part
    except KeyError as error:
        raise ModelError(
            f"`prior['{name}']` asks for the parameter {error}, which is not above it. Parameters above: "
            f"{list(parameters)}. Reorder the prior."
        ) from error
    if not isinstance(distribution, Distribution):
        raise ModelError(
            f"`prior['{name}']` must be a NumPyro distribution or a function that returns one, "
            f"got {type(distribution).__name__}. Use numpyro.distributions."
        )
    return distribution


def _sample(name: str, distribution: Distribution, key: jax.Array) -> jax.Array:
    if isinstance(distribution, Delta):
        raise ModelError(f"`prior['{name}']` must not be a Delta: a fixed value is no parameter. Use a constant.")
    if distribution.support is not None and distribution.support.is_discrete:
        raise ModelError(
            f"`prior['{name}']` must be continuous, got {type(distribution).__name__}. "
            "Sum the discrete parameter out of the likelihood."
        )
    try:
        return jnp.asarray(distribution.sample(key))
    except NotImplementedError as error:
        raise ModelError(
            f"`prior['{name}']` must be a distribution that can be drawn from, "
            f"got {type(distribution).__name__}. The evidence needs a proper prior."
        ) from error


def _shape(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """An abstract array; where there is no float64, newer versions of JAX warn of one that asks for it."""
    return jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(dtype))  # type: ignore[no-untyped-call]


def _transform(distribution: Distribution) -> Any:
    return biject_to(distribution.support)
