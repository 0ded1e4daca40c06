"""Streams that are closed, readers that are gone, terminals that know ASCII only."""

import os
import subprocess
import sys

import pytest

COMMAND = f"{sys.executable} -m sgais run linear-regression table.csv -c x=a,b -c y=target --paper"


def shell(line, folder, **environment):
    result = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, timeout=300, env={**os.environ, **environment}
    )
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream(table, tmp_path, closed):
    code, out, errors = shell(f"{COMMAND} --save out {closed}", tmp_path)
    assert code == 0, errors
    assert b"Traceback" not in errors
    assert (">&-" in closed and closed != "2>&-") or b"600 rows." in out
    assert (tmp_path / "out" / "report.html").read_text().count("600 rows.") == 1, "no file was written to by mistake"
    for path in (tmp_path / "out").iterdir():
        assert b"log Z per row" not in path.read_bytes()[:200], path


def test_standard_input_that_is_closed(tmp_path):
    code, _, errors = shell(f"{COMMAND.replace('table.csv', '-')} --format csv <&-", tmp_path)
    assert code == 1
    assert errors.splitlines()[-1].startswith(b"sgais: `standard input` must")


def test_a_reader_that_is_gone(table, tmp_path):
    """The pipe is closed long before there is a result."""
    code, _, errors = shell(f"{COMMAND} --output csv | true; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert code == 141, errors
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors


def test_a_terminal_that_knows_ascii_only(table, tmp_path):
    command = COMMAND.replace(" --paper", " --set num_particles=16 --set num_islands=4")
    code, out, errors = shell(command, tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert code == 0, errors
    assert out.isascii()
    assert errors.isascii()
    assert b" +/- " in out
