"""Evidence curves as columns by model name, from whatever holds them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sgais.errors import require
from sgais.results.record import EvidenceRecord

Records: TypeAlias = Sequence[EvidenceRecord]
# One curve, several by model name, or the records of a comparison, each with the standings of its models.
Curves: TypeAlias = Records | Mapping[str, Records] | Sequence[Any]


class Curve(NamedTuple):
    """The columns of a curve that figures show. NaN where a model has no part in a comparison.

    `is_warned` is 1 where a warning says that log Z should not be trusted.
    """

    rows: np.ndarray
    log_evidence: np.ndarray
    standard_error: np.ndarray
    annealing_steps: np.ndarray
    is_warned: np.ndarray


NOTHING_KNOWN = (np.nan, np.nan, np.nan, np.nan)
BEWARE = "beware: see its warning"


def curves_of(records: Curves) -> dict[str, Curve]:
    """Curves by name; the name of a single one is empty."""
    if isinstance(records, Mapping):
        require(len(records) > 0, "records", "hold at least one model", records)
        return {str(name): _curve(of_model, f"records[{name!r}]") for name, of_model in records.items()}
    if len(records) > 0 and hasattr(records[0], "models"):
        return {name: _curve_in_comparison(records, name) for name in model_names(records)}
    return {"": _curve(records, "records")}


def model_names(records: Sequence[Any]) -> list[str]:
    """The models of a comparison in the order in which they came."""
    return list(dict.fromkeys(name for record in records for name in record.models))


def _curve(records: Records, name: str) -> Curve:
    require(len(records) > 0, name, "hold at least one record", list(records))
    return _columns([(record.num_rows, *_shown(record)) for record in records])


def _curve_in_comparison(records: Sequence[Any], name: str) -> Curve:
    standings = [(record.num_rows, record.models.get(name)) for record in records]
    return _columns([(rows, *(NOTHING_KNOWN if found is None else _shown(found))) for rows, found in standings])


def label_of(name: str, is_warned: bool) -> str:
    """A name for the legend, which says so where log Z should not be trusted at the end of the curve."""
    return (f"{name} ({BEWARE})" if name else BEWARE) if is_warned else name


def ends_warned(curve: Curve) -> bool:
    """Whether the last log Z that is known carries a warning."""
    known = curve.is_warned[np.isfinite(curve.log_evidence)]
    return len(known) > 0 and bool(known[-1] == 1.0)


def _shown(record: Any) -> tuple[float, float, float, float]:
    is_warned = float(bool(getattr(record, "warning", "")))
    return record.log_evidence, record.standard_error, record.annealing_steps, is_warned


def _columns(lines: list[tuple[float, ...]]) -> Curve:
    return Curve(*np.array(lines, dtype=float).T)
