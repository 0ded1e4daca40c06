import numpy as np
import pandas as pd
import pytest

import sgais
from sgais.fields import Field
from sgais.streams.whole import whole

ROWS = {"y": np.arange(7.0), "z": np.arange(7.0) ** 2}


def test_streams_iterators_and_files_are_read_to_their_end(tmp_path):
    pd.DataFrame(ROWS | {"note": list("abcdefg")}).to_csv(tmp_path / "rows.csv", index=False)
    halves = ({name: values[start : start + 4] for name, values in ROWS.items()} for start in (0, 4))
    for data in (sgais.stream(ROWS, 3), halves, tmp_path / "rows.csv"):
        found = whole(data, {"y": Field(), "z": Field()})
        for name, values in ROWS.items():
            np.testing.assert_array_equal(found[name], values)
    assert whole(ROWS, None) is ROWS


def test_a_stream_that_was_read_before_is_refused():
    with pytest.raises(sgais.DataError, match="Was it read before"):
        whole(iter([]), None)
