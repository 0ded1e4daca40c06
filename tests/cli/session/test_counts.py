"""What is counted, and that a run without a row has no result."""

import json

COLUMNS = ("-c", "x=a,b", "-c", "y=target")
SKIP = (*COLUMNS, "--on-error", "skip", "--paper", "--chunk-size", 200)


def test_all_rows_were_skipped(command, frame, tmp_path):
    frame.assign(target="?").to_csv(tmp_path / "bad.csv", index=False)
    for arguments in (("run", "linear-regression", "bad.csv"), ("compare", "one=linear-regression", "-d", "bad.csv")):
        said = command(*arguments, *SKIP, "--output", "json", code=1)
        assert said.stdout == ""
        assert "`bad.csv` must have at least one good row, got none among 600" in said.stderr.splitlines()[-1]


def test_bad_rows_behind_the_last_chunk_count(command, frame, tmp_path):
    """400 good rows fill two chunks; three bad ones follow."""
    frame = frame[:403].astype({"target": object})
    frame.loc[400:, "target"] = "?"
    frame.to_csv(tmp_path / "tail.csv", index=False)
    found = json.loads(command("run", "linear-regression", "tail.csv", *SKIP, "--output", "json").stdout)
    assert (found["num_rows"], found["num_bad_rows"]) == (400, 3)
    command("run", "linear-regression", "tail.csv", *SKIP, "--save", "out")
    found = json.loads(command("resume", "out", "--output", "json").stdout)
    assert (found["num_rows"], found["num_bad_rows"]) == (400, 3)


def test_a_source_that_was_written_anew(command, frame, table, tmp_path):
    command("run", "linear-regression", table, *COLUMNS, "--paper", "--save", "out")
    frame.loc[5, "a"] += 1.0
    frame.to_csv(tmp_path / table, index=False)
    said = command("resume", "out", code=1)
    assert "must begin with the 600 rows that were read before, got others" in said.stderr.splitlines()[-1]
