"""The same rows raise the same alarms, whoever takes them in: `sgais compare`, `sgais run` and `sgais serve`."""

import subprocess
import sys

import pandas as pd
from served import COLUMNS, COMPARE, MODELS


def test_compare_run_and_serve_raise_the_same_alarms(changing_table, saved_run, start, tmp_path):
    compared = pd.read_csv(saved_run / "alarms.csv", float_precision="round_trip")
    assert set(compared.model) == {"both", "one"}
    assert set(compared.location) == {1200}

    service = start(*MODELS, *COLUMNS, *COMPARE, "--history", "memory")
    service.post(pd.read_csv(changing_table, float_precision="round_trip").to_dict("records"))
    served = pd.DataFrame(service.wait_for_rows(2000)["alarms"])
    pd.testing.assert_frame_equal(served, compared, check_exact=True)

    command = ["run", "linear-regression", changing_table, *COLUMNS, *COMPARE, "--save", tmp_path / "run"]
    subprocess.run([sys.executable, "-m", "sgais", *map(str, command)], check=True, capture_output=True, timeout=300)
    # It has its own seed, hence its own replicates.
    alone = pd.read_csv(tmp_path / "run" / "alarms.csv", float_precision="round_trip")
    both = compared[compared.model == "both"]
    assert (
        alone[["row", "location", "signal"]].to_numpy().tolist()
        == both[["row", "location", "signal"]].to_numpy().tolist()
    )
