"""Graphs of PyTensor as functions of JAX, with every setting of JAX left as it was."""

import importlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from sgais.errors import ModelError

FLAGS = "XLA_FLAGS"


def function_of(outputs: Sequence[Any], replaced: Mapping[Any, Any]) -> Callable[..., list[Any]]:
    """Variables of a graph as a function of what others stand for; containers keep the values they have now.

    Args:
        outputs: What the function returns.
        replaced: What stands in the graph, and the inputs that take its place, in the order of the arguments.
    """
    linker = _linker()
    replace = importlib.import_module("pytensor.graph.replace")
    inputs = list(replaced.values())
    try:
        graph = replace.clone_replace(list(outputs), replace=dict(replaced), rebuild_strict=False)
        generators = {each: each.type() for each in _shared_below(graph) if not hasattr(each.type, "ndim")}
        graph = replace.clone_replace(graph, replace=generators)
        with _without_warnings():
            program = linker.get_jaxified_graph(inputs=[*inputs, *generators.values()], outputs=graph)
    except NotImplementedError as error:
        raise ModelError(f"the PyMC model must be one that JAX can evaluate: {error}") from error

    def evaluate(*values: Any) -> list[Any]:
        with _without_warnings():
            # Densities of mixtures mention the draws of their components, but only ask for their shapes.
            return list(program(*values, *[None] * len(generators)))

    return evaluate


def below(variables: Sequence[Any], among: Sequence[Any]) -> list[Any]:
    """Those of some variables that others are made of."""
    traversal = importlib.import_module("pytensor.graph.traversal")
    found = {id(each) for each in traversal.ancestors(list(variables))}
    return [each for each in among if id(each) in found]


def shape_of(variable: Any) -> tuple[int, ...]:
    """The shape of a variable, with the values that containers have now."""
    folding = importlib.import_module("pymc.pytensorf")
    replace = importlib.import_module("pytensor.graph.replace")
    tensor = importlib.import_module("pytensor.tensor")
    traversal = importlib.import_module("pytensor.graph.traversal")
    sizes = list(variable.shape)
    shared = [
        each for each in traversal.graph_inputs(sizes) if hasattr(each, "get_value") and hasattr(each.type, "ndim")
    ]
    fixed = replace.clone_replace(sizes, replace={each: tensor.constant(each.get_value()) for each in shared})
    return tuple(int(size) for size in folding.constant_fold(fixed)) if fixed else ()


def constants_of_length(variables: Sequence[Any], length: int) -> list[str]:
    """Arrays that are written into a graph with so many entries along their first axis."""
    graph = importlib.import_module("pytensor.graph")
    traversal = importlib.import_module("pytensor.graph.traversal")
    constants = [each for each in traversal.ancestors(list(variables)) if isinstance(each, graph.Constant)]
    shapes = [np.shape(each.data) for each in constants]
    return [f"an array of shape {shape}" for shape in shapes if shape[:1] == (length,)]


def _shared_below(variables: Sequence[Any]) -> list[Any]:
    traversal = importlib.import_module("pytensor.graph.traversal")
    return [each for each in traversal.graph_inputs(list(variables)) if hasattr(each, "get_value")]


def _linker() -> Any:
    """PyMC's way to JAX. Its import would switch 64-bit numbers on, and split the processor into a hundred devices."""
    settings: Any = jax.config
    before, flags = settings.jax_enable_x64, os.environ.get(FLAGS)
    try:
        return importlib.import_module("pymc.sampling.jax")
    finally:
        settings.update("jax_enable_x64", before)
        if flags is None:
            os.environ.pop(FLAGS, None)
        else:
            os.environ[FLAGS] = flags


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Graphs ask for float64 by name, which is float32 where the user has not switched 64-bit numbers on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Explicitly requested dtype", UserWarning)
        warnings.filterwarnings("ignore", "Skipping `CheckAndRaise`", UserWarning)
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)  # JAX has its own
        yield
