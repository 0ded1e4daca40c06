"""The real command in a real terminal: colours, completion, and a view that stays in its place."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest

COLUMNS = ("-c", "x=a,b", "-c", "y=target")
STYLES = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture
def in_terminal(tmp_path):
    """Runs `sgais` in a terminal of 80 columns, and returns all that it was sent."""

    def run(*arguments, environment=None):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        surroundings = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        process = subprocess.Popen(
            [sys.executable, "-m", "sgais", *map(str, arguments)],
            cwd=tmp_path,
            env=surroundings | {"TERM": "xterm-256color"} | (environment or {}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        received = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        assert process.wait(timeout=300) == 0, received.decode()
        return received.decode()

    return run


def _read(descriptor):
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that nobody writes any more
        return b""


def test_a_run_in_a_terminal(in_terminal, table):
    arguments = ("run", "linear-regression", table, *COLUMNS, "--paper", "--chunk-size", 100)
    coloured = in_terminal(*arguments)
    assert STYLES.search(coloured)
    plain = in_terminal(*arguments, environment={"NO_COLOR": "1"})
    assert not STYLES.search(plain)
    for sent in (coloured, plain):
        assert "\x1b[?25l" in sent  # the cursor is hidden while the view is there,
        assert sent.rindex("\x1b[?25h") > sent.rindex("\x1b[?25l")  # and shown again
        result = sent[sent.rindex("\x1b[?25h") :]
        assert "600 rows." in result  # nothing is drawn over the result


def test_a_log_file_stays_one_where_colours_are_forced(command, table):
    arguments = ("run", "linear-regression", table, *COLUMNS, "--paper")
    forced = command(*arguments, environment={"FORCE_COLOR": "1"})
    assert "\x1b[?25" not in forced.stderr  # no view that is drawn again and again
    both = command(*arguments, environment={"FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b" not in both.stdout + both.stderr


def test_no_command_and_one_that_is_none(command, refused):
    assert "sgais demo" in command().stdout
    refused("runn", code=2, says=["Did you mean 'run'? See sgais --help."])


def in_bash(script, folder, **environment):
    """What a script prints whose `sgais` is ours; completion looks for the shell that has started it."""
    start = f'sgais() {{ "{sys.executable}" -m sgais "$@"; }}\n'
    finished = subprocess.run(
        ["bash", "-c", start + script],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_completion_is_shown_and_installed(tmp_path):
    shown = in_bash("sgais --show-completion; sgais --install-completion", tmp_path, HOME=str(tmp_path))
    assert "complete -o default -F _sgais_completion sgais" in shown
    assert "bash completion installed" in shown
    (script,) = (tmp_path / ".bash_completions").iterdir()
    assert str(script) in (tmp_path / ".bashrc").read_text()


def test_bash_is_offered_commands_options_and_models(tmp_path):
    asked = {"sgais re": 1, "sgais run lin": 2, "sgais run --chu": 2}
    lines = [f"COMP_WORDS='{words}' COMP_CWORD={number} sgais" for words, number in asked.items()]
    offered = in_bash("\n".join(lines), tmp_path, _SGAIS_COMPLETE="complete_bash")
    assert offered.split() == ["resume", "linear-regression", "--chunk-size"]
