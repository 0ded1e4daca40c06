"""`from_pymc`: a PyMC model whose rows are in `pm.Data` becomes a `Model`.

The graph of the observed variables' log densities becomes a function of JAX whose arguments are the free variables and
the containers with rows. Each free variable becomes a NumPyro distribution with parameters from the graph; its density
is held against PyMC's own. What does not fit the contract is refused by name.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.distributions import Distribution

from sgais.errors import ModelError, require
from sgais.fields import Field
from sgais.models.base import Model, Parameters, Predictive, Rows, real_dtype
from sgais.models.programs.independence import check_rows_are_independent, points_to_check
from sgais.models.programs.pymc_distributions import CONTINUOUS, OBSERVED, Translation
from sgais.models.programs.pymc_graph import below, constants_of_length, function_of, shape_of

CHECKED_ROWS = 8
PROPER_TRANSFORMS = ("NoneType", "LogTransform", "LogOddsTransform", "Interval", "SimplexTransform")
TOLERANCE = 1e-3  # of a log density in float32


def is_pymc(model: object) -> bool:
    """Whether something is a PyMC model; nothing is imported to find out."""
    return any(f"{kind.__module__}.{kind.__name__}".startswith("pymc.model") for kind in type(model).__mro__)


def from_pymc(model: Any, rows: Sequence[str] | None = None) -> Model:
    """Use a PyMC model. Its rows are in `pm.Data`, whose names are the columns of the chunks.

    log Z is that of the PyMC model: the same priors, whatever transforms it has. JAX's settings stay as they are.

    Args:
        model: The `pymc.Model`, with some rows in its containers: some dozens are enough.
        rows: The names of the containers that hold rows; those that are as long as the observed variables, if omitted.
            The values of other containers are constants.

    Example:
        >>> import pymc as pm
        >>> with pm.Model() as program:
        ...     y = pm.Data("y", np.linspace(-1.0, 1.0, 10))
        ...     mean = pm.Normal("mean", 0.0, 1.0)
        ...     _ = pm.Normal("seen", mean, 1.0, observed=y)
        >>> sgais.from_pymc(program)
        Model(mean)
    """
    cure = "Pass what `with pm.Model() as ...` made."
    require(is_pymc(model), "model", "be a pymc.Model", type(model).__name__, cure)
    program = _Program(model, rows)
    program.check()
    return program.made_model()


class _Program:
    """A PyMC model, taken apart.

    Attributes:
        free: Its free variables, in the order of their definition.
        observed: Its observed variables.
        containers: Those with rows.
    """

    def __init__(self, model: Any, rows: Sequence[str] | None) -> None:
        self._model = model
        self.free, self.observed = list(model.free_RVs), list(model.observed_RVs)
        if not self.free:
            raise ModelError("the PyMC model has no free variables, so nothing to integrate over. Add a prior.")
        if not self.observed:
            raise ModelError("the PyMC model has no observed variable. Pass a pm.Data container as `observed=`.")
        self._data = list(model.data_vars)
        self.num_rows = self._count_rows()
        self.containers = self._chosen_containers(rows)
        # What a graph is cut off at, and the inputs that take its place.
        self._free_inputs = {variable: variable.type(name=variable.name) for variable in self.free}
        self._inputs = self._free_inputs | {each: each.type(name=each.name) for each in self.containers}
        self._values = {each: model.rvs_to_values[each] for each in self.observed}

    def made_model(self) -> Model:
        """The model, tried on the rows that the containers hold."""
        fields = {each.name: _field(each.get_value()) for each in self.containers}
        try:
            prior = {variable.name: self._prior_of(variable) for variable in self.free}
            model = Model(
                prior, self._log_likelihood(), fields, predictive=self._predictive(), observation=self._observation()
            )
            some = np.arange(CHECKED_ROWS) % self.num_rows
            example = {each.name: _as_read(each.get_value()[some]) for each in self.containers}
            check_rows_are_independent(model, example, "PyMC")
        except ModelError as error:
            suspects = self._suspects()
            raise ModelError(f"{error} It may be {suspects}." if suspects else str(error)) from error
        self._check_priors(model)
        return model

    def check(self) -> None:
        """Refuse what cannot work, by name."""
        if self._model.potentials:
            raise ModelError(
                f"the potential {self._model.potentials[0].name!r} belongs to no row and to no prior. Make it part of "
                "an observed variable's distribution (pm.CustomDist), or of a prior."
            )
        for variable in self.free:
            self._check_free(variable)
        for variable in self.observed:
            if "Minibatch" in type(variable.owner.op).__name__:
                raise ModelError(f"the variable {variable.name!r} has a `total_size`. Drop it: every row counts.")
            if below([variable], [other for other in self.observed if other is not variable]):
                raise ModelError(
                    f"the observed variable {variable.name!r} depends on another. Use its container there."
                )
            if not below([self._values[variable]], self.containers):
                raise ModelError(
                    f"the observed variable {variable.name!r} must be observed in a container, got fixed rows. Write "
                    f'observed=pm.Data("{variable.name}_rows", ...).'
                )

    def _check_free(self, variable: Any) -> None:
        name, kind = variable.name, type(variable.owner.op).__name__
        if variable.dtype.startswith(("int", "uint", "bool")):
            raise ModelError(
                f"the free variable {name!r} is discrete ({kind}). Sum it out, e.g. with pm.Mixture or "
                "pymc_extras.marginalize."
            )
        if name.endswith("_unobserved"):
            raise ModelError(f"the free variable {name!r} stands for missing values. Drop the rows that lack them.")
        if below([variable], self.containers):
            raise ModelError(
                f"the free variable {name!r} depends on the rows: it has one value for each, or its prior is made of "
                "them. Integrate it out; the evidence needs a prior that is fixed beforehand."
            )
        if kind not in CONTINUOUS:
            known = ", ".join(sorted(each.removesuffix("RV") for each in CONTINUOUS))
            raise ModelError(f"the prior of {name!r} must be one that can be drawn from, got {kind}. Known: {known}.")
        transform = type(self._model.rvs_to_transforms.get(variable)).__name__
        if transform not in PROPER_TRANSFORMS:
            raise ModelError(
                f"the free variable {name!r} has the transform {transform}, which cuts its prior: what is left does "
                "not integrate to one, and log Z would be off. Drop `transform=`; labels need no order here."
            )

    def _count_rows(self) -> int:
        lengths = {}
        for variable in self.observed:
            value = self._model.rvs_to_values[variable]
            shapes = [each.get_value().shape for each in below([value], self._data)] or [shape_of(value)]
            lengths[variable.name] = shapes[0][0] if shapes[0] else 0
        different = set(lengths.values())
        if len(different) > 1 or min(different) < 2:
            raise ModelError(f"the observed variables must have the same two rows or more, got {lengths} rows.")
        return int(different.pop())

    def _chosen_containers(self, rows: Sequence[str] | None) -> list[Any]:
        if rows is None:
            return [each for each in self._data if each.get_value().shape[:1] == (self.num_rows,)]
        known = {each.name: each for each in self._data}
        unknown = [name for name in rows if name not in known]
        if unknown:
            raise ModelError(f"`rows` must name containers of {sorted(known)}, got {unknown[0]!r}.")
        return [known[name] for name in rows]

    def _parameters_of(self, variable: Any, inputs: dict[Any, Any]) -> Callable[..., list[Any]]:
        node = variable.owner
        return function_of(node.op.dist_params(node), inputs)

    def _prior_of(self, variable: Any) -> Callable[[Parameters], Distribution]:
        translate = CONTINUOUS[type(variable.owner.op).__name__]
        parameters_of, shape = self._parameters_of(variable, self._free_inputs), shape_of(variable)
        above = [other.name for other in below([variable], self.free) if other is not variable]
        names = [other.name for other in self.free]

        def prior(parameters: Parameters) -> Distribution:
            values = [parameters[name] if name in above else 0.0 for name in names]
            base = _distribution(translate, parameters_of(*values))
            return base.expand(shape[: len(shape) - base.event_dim])

        return prior

    def _log_likelihood(self) -> Callable[[Parameters, Rows], jax.Array]:
        pymc = importlib.import_module("pymc")
        terms = [pymc.logp(each, self._values[each], warn_rvs=False) for each in self.observed]
        names, columns = [each.name for each in self.free], [each.name for each in self.containers]
        program = function_of(terms, self._inputs)

        def log_likelihood(parameters: Parameters, rows: Rows) -> jax.Array:
            found = program(*(parameters[name] for name in names), *(rows[name] for name in columns))
            each = [jnp.sum(value, axis=tuple(range(1, jnp.ndim(value)))) for value in found]
            return sum(each[1:], start=each[0])

        return log_likelihood

    def _predictive(self) -> Predictive | None:
        """The distribution of the one observed variable, where NumPyro has it."""
        variable = self.observed[0]
        translate = OBSERVED.get(type(variable.owner.op).__name__)
        if len(self.observed) > 1 or translate is None:
            return None
        program = self._parameters_of(variable, self._inputs)
        names, columns = [each.name for each in self.free], [each.name for each in self.containers]

        def predictive(parameters: Parameters, rows: Rows) -> Distribution:
            count = len(next(iter(rows.values())))
            values = [rows.get(name, np.zeros(count)) for name in columns]
            found = _distribution(translate, program(*(parameters[name] for name in names), *values))
            return found.expand((count, *found.batch_shape[1:]))

        return predictive

    def _observation(self) -> str | None:
        columns = below([self._values[self.observed[0]]], self.containers)
        return columns[0].name if len(self.observed) == len(columns) == 1 else None

    def _check_priors(self, model: Model) -> None:
        """What PyMC says of the priors' densities, at some points."""
        pymc = importlib.import_module("pymc")
        terms = [pymc.logp(each, self._free_inputs[each], warn_rvs=False) for each in self.free]
        program = function_of(terms, self._free_inputs)
        for position in points_to_check(model)[:2]:
            parameters = model.constrain(position)
            ours = [jnp.sum(each.log_prob(parameters[name])) for name, each in model.prior_at(parameters).items()]
            theirs = [jnp.sum(value) for value in program(*parameters.values())]
            for name, one, other in zip(parameters, ours, theirs, strict=True):
                if not np.isclose(one, other, rtol=TOLERANCE, atol=TOLERANCE):
                    raise ModelError(
                        f"the prior of {name!r} must have the density that PyMC gives, got {one:g} where PyMC has "
                        f"{other:g}. Its distribution is not known well enough here."
                    )

    def _suspects(self) -> str:
        """What has as many entries as there are rows, though it is in no container."""
        terms = [*self.observed, *self._values.values()]
        free = [f"the free variable {each.name!r}" for each in self.free if shape_of(each)[:1] == (self.num_rows,)]
        fixed = [f"{each} that is in no pm.Data" for each in constants_of_length(terms, self.num_rows)]
        return ", ".join([*free, *fixed])


def _distribution(translate: Translation, parameters: Sequence[Any]) -> Distribution:
    """Constants stay constants, in JAX's present precision, so that their values can be looked at."""
    as_array = [each if isinstance(each, jax.core.Tracer) else np.asarray(each, real_dtype()) for each in parameters]
    return translate(*as_array)


def _field(values: np.ndarray) -> Field:
    return Field(shape=values.shape[1:], is_integer=values.dtype.kind in "iub")


def _as_read(values: np.ndarray) -> np.ndarray:
    return values.astype(np.int32 if values.dtype.kind in "iub" else real_dtype())
