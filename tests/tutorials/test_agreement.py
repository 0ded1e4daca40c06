"""The tests of the tutorials notice what is wrong with one."""

import pytest
from agreement import disagreement
from tutorial import blocks

SHOWN = "log Z = -7,042.75 ± 0.10 Monte Carlo, 5000 rows\nexact: -7042.72  ──────\n"


def test_small_differences_between_machines_are_allowed():
    assert not disagreement(SHOWN, SHOWN)
    assert not disagreement(SHOWN, "log Z = -7042.95 ± 0.14  Monte Carlo, 5000 rows\nexact: -7042.71  ────\n")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("-7,042.75", "-7,043.75"),  # ten errors
        ("0.10", "0.25"),
        ("5000", "5500"),
        ("exact: -7042.72", "exact: -7052.72"),
        ("exact", "about"),
        ("Monte Carlo, ", ""),
        ("log Z = -7,042.75", "log Z = nan"),
    ],
)
def test_anything_else_is_noticed(right, wrong):
    assert right in SHOWN
    assert disagreement(SHOWN, SHOWN.replace(right, wrong))
    assert disagreement(SHOWN.replace(right, wrong), SHOWN)


def test_what_is_printed_must_be_shown():
    assert disagreement("", "42\n")
    assert disagreement("42\n", "")


def test_blocks_are_found_with_their_output():
    text = (
        "# Title\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nWords.\n\n```bash\nsgais demo\n```\n\n```toml\n```\n"
    )
    python, shell = blocks(text)
    assert python == ("python", "print(1)\n", "1\n", 4)
    assert shell == ("bash", "sgais demo\n", "", 14)
