"""The functions of a formula, as Formulaic is to call them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

MONTHS = tuple(f"{month:02d}" for month in range(1, 13))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SECONDS_PER_DAY = 86_400


@cache
def functions() -> Mapping[str, Any]:
    """By name. Those with a memory (`poly`, `bs`, `center`, ...) are Formulaic's: the first rows fix their state."""
    import pandas as pd
    from formulaic.transforms import TRANSFORMS
    from formulaic.utils.stateful_transforms import stateful_transform

    def splines(x: Any, df: int | None = None, degree: int = 3, knots: Any = None, _state: Any = None) -> Any:
        """Splines that continue beyond the first rows, whose range Formulaic would make the last word."""
        return TRANSFORMS["bs"](x, df=df, degree=degree, knots=knots, extrapolation="extend", _state=_state)

    def month(dates: Any) -> Any:
        return pd.Series(pd.Categorical(np.array(MONTHS)[dates.dt.month - 1], categories=list(MONTHS)))

    def weekday(dates: Any) -> Any:
        return pd.Series(pd.Categorical(np.array(WEEKDAYS)[dates.dt.weekday], categories=list(WEEKDAYS)))

    def days(dates: Any) -> Any:
        return (dates - pd.Timestamp(0)).dt.total_seconds() / SECONDS_PER_DAY

    return {
        "log1p": np.log1p,
        "sqrt": np.sqrt,
        "abs": np.abs,
        "offset": lambda values: values,
        "bs": stateful_transform(splines),
        "month": month,
        "weekday": weekday,
        "days": days,
        "year": lambda dates: dates.dt.year.astype(float),
        "day": lambda dates: dates.dt.day.astype(float),
        "hour": lambda dates: dates.dt.hour + dates.dt.minute / 60,
    }
