"""Models as they are named on the command line.

`"weight ~ height + age"` is a formula; `linear-regression:dim=5` is a ready model with options; `mymodels.py:model` and
`package.module:model` are a `sgais.Model`, a PyMC or NumPyro model, or a function without arguments that returns one of
them.
"""

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from sgais.cli.arguments.assignments import nearest, value_of
from sgais.cli.arguments.formulas import check_used, formula_model, is_formula
from sgais.cli.arguments.settings import Settings
from sgais.errors import ConfigError, ModelError, SgaisError
from sgais.models import AutoRegression, GaussianMixture, LinearRegression, LogisticRegression
from sgais.models.base import ModelLike
from sgais.models.programs.numpyro import from_numpyro
from sgais.models.programs.pymc import from_pymc, is_pymc

Columns = Mapping[str, str | Sequence[str]]


class Ready(NamedTuple):
    """A ready model, and the option that is the number of source columns mapped to one of its columns."""

    kind: Callable[..., ModelLike]
    size_option: str
    size_column: str


READY = {
    "linear-regression": Ready(LinearRegression, "dim", "x"),
    "logistic-regression": Ready(LogisticRegression, "dim", "x"),
    "gaussian-mixture": Ready(GaussianMixture, "dim", "y"),
    "auto-regression": Ready(AutoRegression, "order", "x"),
}


def complete_model(incomplete: str) -> list[str]:
    """For the shell: the ready models that begin like this."""
    return [name for name in READY if name.startswith(incomplete)]


def named_specs(texts: Sequence[str]) -> dict[str, str]:
    """`name=spec`, or a spec that is its own name, as specs by name."""
    specs: dict[str, str] = {}
    for text in texts:
        # The options of a spec come behind its colon: `five=gaussian-mixture:components=5`; a formula may have equals
        # signs inside parentheses, behind its tilde: `smooth=y ~ bs(x, df=4)`.
        named = re.fullmatch(r"([^=:~]+)=(.+)", text)
        name, spec = named.groups() if named else (text, text)
        if name in specs:
            raise ConfigError(f"`MODEL` must have different names, got {name!r} twice. Write NAME=MODEL.")
        specs[name] = spec
    return specs


def models_of(settings: Settings) -> dict[str, ModelLike]:
    """The models of a run by name."""
    formulas = {
        name: formula_model(spec, settings.family, settings.prior, settings.levels)
        for name, spec in settings.models.items()
        if is_formula(spec)
    }
    check_used(list(formulas.values()), settings.prior, settings.levels)
    return {
        name: formulas[name] if name in formulas else model_of(spec, settings.columns)
        for name, spec in settings.models.items()
    }


def model_of(spec: str, columns: Columns) -> ModelLike:
    """The model that a text means, if it is no formula; its number of features is that of the columns if not said."""
    name, _, rest = spec.partition(":")
    if name in READY:
        return _ready(spec, READY[name], _options(name, rest), columns)
    path, colon, attribute = spec.rpartition(":")
    if not colon or "=" in attribute or not attribute.isidentifier():
        raise ConfigError(
            "`MODEL` must be a formula such as 'y ~ x', a ready model or a path such as mymodels.py:model, got "
            f"{spec!r}. {nearest(name, READY)}"
        )
    return _model_like(spec, _attribute(_module(path), path, attribute))


def _options(name: str, text: str) -> dict[str, Any]:
    """`dim=3,features=0,1` as options; a comma that no name follows belongs to the value before it."""
    options: dict[str, Any] = {}
    for part in re.split(r",(?=\w+=)", text) if text else []:
        option, sign, value = part.partition("=")
        if not sign:
            raise ConfigError(f"`MODEL` must have options as in {name}:name=value, got {part!r}.")
        options[option] = value_of(f"[{value}]") if "," in value else value_of(value)
    return options


def _ready(spec: str, ready: Ready, options: dict[str, Any], columns: Columns) -> ModelLike:
    signature = inspect.signature(ready.kind)
    for option in options:
        if option not in signature.parameters:
            raise ConfigError(
                f"`MODEL` must have options of its own, got {option!r} in {spec!r}. "
                f"{nearest(option, signature.parameters)}"
            )
    if ready.size_option not in options and ready.size_column in columns:
        options[ready.size_option] = _count(columns[ready.size_column])
    for option, value in options.items():  # `features=0` is a list of one
        if "Sequence" in str(signature.parameters[option].annotation) and not isinstance(value, list):
            options[option] = [value]
    try:
        signature.bind(**options)
    except TypeError as error:
        missing = next(name for name, p in signature.parameters.items() if p.default is p.empty and name not in options)
        how = f"{spec}{',' if ':' in spec else ':'}{missing}=2"
        if missing == ready.size_option:
            how += f", or map the columns: --columns {ready.size_column}=a,b"
        raise ConfigError(f"`MODEL` must say its {missing!r}, got {spec!r}. Write {how}.") from error
    return ready.kind(**options)


def _count(mapped: str | Sequence[str]) -> int:
    return 1 if isinstance(mapped, str) else len(mapped)


def _module(path: str) -> ModuleType:
    """Import a file or a module; what stands beside it, or in the present folder, can be imported too."""
    try:
        return _from_file(Path(path)) if path.endswith(".py") else _from_name(path)
    except SgaisError:
        raise
    except Exception as error:
        raise ModelError(f"`{path}` must be imported without an error, got {type(error).__name__}: {error}.") from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"`MODEL` must be in a file that exists, got {path}.")
    sys.path.insert(0, str(path.parent.resolve()))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None, "a name that ends in .py has a loader"
    assert specification.loader is not None, "a name that ends in .py has a loader"
    module = importlib.util.module_from_spec(specification)
    sys.modules[path.stem] = module
    specification.loader.exec_module(module)
    return module


def _from_name(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise  # it is there, and imports something that is not
        raise ConfigError(
            f"`MODEL` must be a ready model, a file or a module that can be imported, got {name!r}. "
            f"{nearest(name, READY)}"
        ) from error


def _attribute(module: ModuleType, path: str, name: str) -> Any:
    if not hasattr(module, name):
        public = [each for each in vars(module) if not each.startswith("_")]
        raise ConfigError(f"`MODEL` must be something that {path} defines, got {name!r}. {nearest(name, public)}")
    return getattr(module, name)


def _model_like(spec: str, found: Any) -> ModelLike:
    if hasattr(found, "bind") and not inspect.isclass(found):
        return found
    if is_pymc(found):
        return from_pymc(found)
    if inspect.isfunction(found) and not inspect.signature(found).parameters:
        try:
            return _model_like(spec, found())
        except SgaisError:
            raise
        except Exception as error:
            raise ModelError(f"`{spec}` must return a model, got {type(error).__name__}: {error}.") from error
    if inspect.isfunction(found):
        return from_numpyro(found)
    raise ModelError(f"`{spec}` must be a sgais.Model, a PyMC model or a NumPyro model, got a {type(found).__name__}.")
