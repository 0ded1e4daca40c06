"""Trees of records, tuples, dictionaries, arrays and numbers as text and a list of arrays, and back.

Nothing is pickled: a checkpoint from elsewhere cannot run code. Records (named tuples, data classes) are built anew
from the types that the reader names, field by field.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sgais.checkpoint.renamed import with_present_names
from sgais.errors import CheckpointError


def encode(value: Any, arrays: list[np.ndarray]) -> Any:
    """The tree in terms that JSON knows; arrays are put into the list, and their number into the tree."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {"dict": {str(name): encode(part, arrays) for name, part in value.items()}}
    if hasattr(value, "_fields"):
        return _encode_record(value, value._fields, arrays)
    if dataclasses.is_dataclass(value):
        return _encode_record(value, [field.name for field in dataclasses.fields(value)], arrays)
    if isinstance(value, tuple):
        return {"tuple": [encode(part, arrays) for part in value]}
    if isinstance(value, list):
        return [encode(part, arrays) for part in value]
    if hasattr(value, "__array__"):
        arrays.append(np.asarray(value))
        return {"array": len(arrays) - 1}
    raise TypeError(f"a checkpoint cannot hold a {type(value).__name__}")


def decode(tree: Any, arrays: Sequence[np.ndarray], types: Mapping[str, type]) -> Any:
    """The tree that was encoded; `types` are those of its records, by name."""
    if isinstance(tree, list):
        return [decode(part, arrays, types) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "tuple" in tree:
        return tuple(decode(part, arrays, types) for part in tree["tuple"])
    if "dict" in tree:
        return {name: decode(part, arrays, types) for name, part in tree["dict"].items()}
    fields = {name: decode(part, arrays, types) for name, part in tree["fields"].items()}
    return _record(*with_present_names(tree["record"], fields), types)


def _encode_record(value: Any, names: Sequence[str], arrays: list[np.ndarray]) -> dict[str, Any]:
    fields = {name: encode(getattr(value, name), arrays) for name in names}
    return {"record": type(value).__name__, "fields": fields}


def _record(name: str, fields: dict[str, Any], types: Mapping[str, type]) -> Any:
    if name not in types:
        raise CheckpointError(f"the checkpoint holds a {name}, which this version of sgais does not know.")
    try:
        return types[name](**fields)
    except TypeError as error:
        raise CheckpointError(f"the checkpoint's {name} is not the one of this version of sgais: {error}.") from error
