"""Ctrl-C is heard wherever a command is."""

import os
import signal
import subprocess
import sys
import time

import pytest

from sgais.cli.session.interruption import ending_at_once, raising

GARBAGE = """
import gc, os, signal, jax, jax.numpy as jnp
from sgais.cli.session.interruption import ending_at_once

jnp.zeros(1)  # from now on JAX has a callback of its own in the garbage collector
gc.callbacks.insert(0, lambda *_: os.kill(os.getpid(), signal.SIGINT))
with ending_at_once():
    gc.collect()
print("Not heard.")
"""


def test_it_ends_the_process_even_in_the_garbage_collector():
    ended = subprocess.run([sys.executable, "-c", GARBAGE], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_it_raises_behind_a_callback_of_jax():
    """In the callback itself, Python would print the exception and continue."""
    with pytest.raises(KeyboardInterrupt), raising():
        _xla_gc_callback()


def _xla_gc_callback():
    """What the handler sees when a signal comes in the callback of this name."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)  # here Python calls the handler
    except KeyboardInterrupt:
        pytest.fail("raised in the callback")
    _wait()


def _wait():
    time.sleep(10.0)


def test_the_former_handler_comes_back():
    former = signal.getsignal(signal.SIGINT)
    with ending_at_once():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        with raising():
            assert callable(signal.getsignal(signal.SIGINT))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is former
