"""A server of a test: started on a free port of this machine, killed, and started again where it was."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

PATIENCE = 180  # seconds that a server may take to come up where the machine has much else to do
STARTS = 3
OUTSIDE_OF_CONNECTIONS = (10_000, 32_000)  # Linux gives them 32768 and more
PORTS = random.Random()  # tests run side by side: each process chooses others
# A server must not outlive a test process that was killed itself.
END_WITH_US = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
IS_COMPLETE = os.environ.get("SGAIS_SERVICES") == "all"  # `make test-services`: a server that is missing is a failure


def free_port():
    """One that no connection out of this machine is given, so that it is still free when a server comes back."""
    while True:
        port = PORTS.randrange(*OUTSIDE_OF_CONNECTIONS)
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def program(name, *folders):
    """The path of a server's program, or the reason for a test to be skipped."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", *map(str, folders)])
    found = shutil.which(name, path=path)
    if found is None:
        skip_or_fail(f"needs {name}: `make services` installs it where it may")
    return found


def skip_or_fail(reason):
    (pytest.fail if IS_COMPLETE else pytest.skip)(reason)


class ServerProcess:
    """A process that listens at a port; its files outlive it."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._process = None
        self._has_answered = False
        self.choose_ports()

    def command(self):
        raise NotImplementedError

    def environment(self):
        return dict(os.environ)

    def choose_ports(self):
        self.port = free_port()

    def start(self):
        """Tried again: a port that was free may have been taken since, and a busy machine is late with its answers."""
        for _ in range(STARTS - 1):
            try:
                return self._start()
            except AssertionError:
                self.kill()
                if self._has_answered:  # clients know its ports
                    time.sleep(1)
                else:
                    self.choose_ports()
        return self._start()

    def _start(self):
        with (self.folder / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(
                [*END_WITH_US, *self.command()],
                stdout=output,
                stderr=output,
                env=self.environment(),
                start_new_session=True,
            )
        self.wait_until_it_answers()
        self._has_answered = True
        return self

    def wait_until_it_answers(self):
        end = time.monotonic() + PATIENCE
        while not self.answers():
            output = (self.folder / "output.txt").read_text(errors="replace")[-2000:]
            assert self._process.poll() is None, output
            assert time.monotonic() < end, output
            time.sleep(0.05)

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def kill(self):
        """SIGKILL to it and to what it has started."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
