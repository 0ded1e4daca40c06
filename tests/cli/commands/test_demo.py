"""The demo in a real process: quickly, and as everybody sees it."""

import pandas as pd
import pytest

PHASES = {1_000: "3 components", 2_200: "5 components", 4_000: "7 components"}  # where they end, and who is right
LONGEST_DELAY = 400  # rows from a change to its first alarm: four chunks


@pytest.mark.slow
def test_the_demo_tells_who_leads_and_leaves_a_report(command, tmp_path):
    out = command("demo", "--rows", 500).stdout
    for words in ("After the phase of 3 Gaussians", "After the phase of 7 Gaussians", "sgais compare"):
        assert words in out
    folder = tmp_path / "demo-output"
    frame = pd.read_csv(folder / "records.csv")
    assert sorted(set(frame.num_rows)) == list(range(100, 501, 100))
    assert sorted(set(frame.model)) == ["3 components", "5 components", "7 components"]
    # At row 200 five Gaussians have made half the rows.
    assert frame[(frame.num_rows == 100) & (frame.model == "3 components")].probability.item() > 0.9
    page = (folder / "report.html").read_text()
    assert page.count("<svg ") == page.count("<figure>") == 5
    assert "![" in (folder / "report.md").read_text()
    assert command("plot", "demo-output").stdout.count(".png") == 4  # the folder is that of a run


@pytest.mark.slow
def test_the_demo_says_what_the_paper_says(command, tmp_path):
    """More components win once they appear, and there are alarms at the changes, and only there."""
    out = command("demo", seconds=1800).stdout
    frame = pd.read_csv(tmp_path / "demo-output" / "records.csv")
    for row, name in PHASES.items():
        standing = frame[frame.num_rows == row].set_index("model").probability
        assert standing.idxmax() == name, standing
        assert f"at row {row:,}: {name} leads" in out
    alarms = pd.read_csv(tmp_path / "demo-output" / "alarms.csv")
    changes = list(PHASES)[:-1]
    assert sorted(set(alarms.location)) == changes
    delays = alarms.groupby("location").row.min() - changes
    assert delays.between(1, LONGEST_DELAY).all(), alarms
    assert out.count("ALARM: ") == len(changes)


def test_wrong_usage_exits_with_2(refused):
    refused("demo", "--rows", "0", code=2, says=["--rows", "sgais demo --help"])


def test_an_option_that_is_none(refused):
    refused("demo", "--colour", code=2, says=["--colour", "sgais demo --help"])


def test_a_folder_that_cannot_be_written(refused, tmp_path):
    (tmp_path / "file").touch()
    refused("demo", "--output", "file/demo", code=1, says=["Choose another"])
