"""A stream that is resumed must be the one that was read."""

import json

import numpy as np
import pandas as pd
import pytest

import sgais
from sgais.streams.seen import Seen

MODEL = sgais.models.LinearRegression(dim=2)
DATA = sgais.simulate.linear_regression(600, dim=2).data
CONFIG = sgais.Config.paper(num_particles=4)
COLUMNS = {"x": ["a", "b"], "y": "y"}


def frame():
    return pd.DataFrame({"a": DATA["x"][:, 0], "b": DATA["x"][:, 1], "y": DATA["y"]})


def write(path, rows):
    if path.suffix == ".csv":
        rows.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        rows.to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_dict("records")))
    return path


def stopped(path, folder, **options):
    """An evidence that has taken in 400 of 600 rows."""
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    stream = sgais.stream(path, 200, **COLUMNS, **options)
    evidence.run(Two(stream), save_to=folder / "state")
    assert evidence.place.position == 400 + evidence.place.num_bad_rows
    return sgais.OnlineEvidence.load(folder / "state", MODEL)


class Two:
    """The first two chunks of a stream."""

    def __init__(self, stream):
        self._stream, self._left = stream, 2

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def __iter__(self):
        return self

    def __next__(self):
        self._left -= 1
        if self._left < 0:
            raise StopIteration
        return next(self._stream)


@pytest.mark.parametrize("ending", [".csv", ".ndjson", ".parquet"])
@pytest.mark.parametrize("row", [0, 250, 399])
def test_a_source_that_was_written_anew_is_refused(tmp_path, ending, row):
    path = write(tmp_path / f"rows{ending}", frame())
    evidence = stopped(path, tmp_path)
    changed = frame()
    changed.loc[row, "b"] += 1e-3
    write(path, changed)
    with pytest.raises(sgais.DataError, match="begin with the 400 rows that were read before, got others"):
        evidence.run(sgais.stream(path, 200, **COLUMNS))
    assert evidence.num_rows == 400
    write(path, frame()[:300])
    with pytest.raises(sgais.DataError, match="got only 300|must be at most the number of rows"):
        evidence.run(sgais.stream(path, 200, **COLUMNS))


@pytest.mark.parametrize("ending", [".csv", ".ndjson", ".parquet"])
def test_what_was_not_read_yet_may_change(tmp_path, ending):
    path = write(tmp_path / f"rows{ending}", frame())
    evidence = stopped(path, tmp_path)
    changed = frame()
    changed.loc[400, "b"] += 1.0
    write(path, changed)
    evidence.run(sgais.stream(path, 200, **COLUMNS))
    assert evidence.num_rows == 600


def test_bad_rows_are_counted_once(tmp_path):
    holes = frame()
    holes.loc[[3, 250, 599], "b"] = np.nan
    path = write(tmp_path / "rows.csv", holes)
    evidence = stopped(path, tmp_path, on_error="quarantine", quarantine=tmp_path / "bad")
    assert evidence.place.num_bad_rows == 2
    evidence.run(sgais.stream(path, 200, on_error="quarantine", quarantine=tmp_path / "bad", **COLUMNS))
    assert (evidence.num_rows, evidence.place.num_bad_rows) == (597, 3)
    assert [json.loads(line)["row"] for line in (tmp_path / "bad").read_text().splitlines()] == [3, 250, 599]


def test_a_series_is_known_again(tmp_path):
    model = sgais.models.AutoRegression(order=2)
    series = {"y": DATA["y"]}
    evidence = sgais.OnlineEvidence(model, CONFIG)
    evidence.run(Two(sgais.streams.lagged(sgais.stream(series, 200), 2)), save_to=tmp_path / "state")
    again = sgais.OnlineEvidence.load(tmp_path / "state", model)
    with pytest.raises(sgais.DataError, match="got others"):
        again.run(sgais.streams.lagged(sgais.stream({"y": DATA["y"] + 1.0}, 200), 2))
    again.run(sgais.streams.lagged(sgais.stream(series, 200), 2))
    assert again.num_rows == 598


def test_text_is_known_again_too():
    rows = {"y": np.arange(6.0), "firm": np.array(list("aabbca"), object)}
    whole = Seen().joined_with(rows)
    parts = Seen().joined_with({name: values[:4] for name, values in rows.items()})
    parts = parts.joined_with({name: values[4:] for name, values in rows.items()})
    assert parts == whole
    assert Seen().joined_with(rows | {"firm": np.array(list("aabbcc"), object)}) != whole


def test_checksums_do_not_depend_on_chunks():
    whole = Seen().joined_with(DATA)
    parts = Seen()
    for start in range(0, 600, 70):
        parts = parts.joined_with({name: values[start : start + 70] for name, values in DATA.items()})
    assert parts == whole
    assert Seen().joined_with(DATA, 100) == Seen().joined_with({name: values[:100] for name, values in DATA.items()})
