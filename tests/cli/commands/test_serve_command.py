"""`sgais serve` that cannot start; what it does when it can is tested in tests/serve."""

import socket

import pytest

MODEL = ("linear-regression", "-c", "x=a,b", "-c", "y=target")

BAD = [
    (("liner-regression", "--save", "new"), 2, ["'linear-regression'"]),
    (("linear-regression:dims=2", "--save", "new"), 2, ["'dim'"]),
    (("linear-regression", "--save", "new"), 2, ["--columns x=a,b"]),
    (("raises.py:model", "--save", "new"), 1, ["raises.py", "ValueError: no luck today"]),
    (("missing.py:model", "--save", "new"), 2, ["missing.py"]),
    (MODEL, 2, ["--save DIR"]),
    (("--save", "new"), 2, ["`MODEL`"]),
    ((*MODEL, "--save", "raises.py/new"), 1, ["raises.py/new", "Choose another"]),
    ((*MODEL, "--save", "new", "--colour"), 2, ["--colour", "sgais serve --help"]),
    ((*MODEL, "--save", "new", "--host", "0.0.0.0"), 2, ["--token-file"]),
    ((*MODEL, "--save", "new", "--token-file", "missing"), 2, ["--token-file", "missing"]),
    (("--replay", "nowhere"), 2, ["run.json", "--save DIR"]),
]


@pytest.mark.parametrize(("arguments", "code", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_input_is_one_line_that_says_what_to_do(refused, tmp_path, arguments, code, says):
    (tmp_path / "raises.py").write_text("raise ValueError('no luck today')\n")
    refused("serve", *arguments, code=code, says=says)


def test_a_port_that_is_taken(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused("serve", *MODEL, "--save", "new", "--port", port, code=2, says=[str(port), "--port 0"])
