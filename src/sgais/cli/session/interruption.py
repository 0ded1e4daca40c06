"""Ctrl-C and SIGTERM end a run behind the chunk that it is at, or without it if that takes too long.

Python tells the main thread of a signal only when it is back from compiled code, which may take half a minute; so a
thread of our own listens, and ends the process if the run has not come to a stop in time. What was saved by then
stands: a resumed run repeats the chunk that was lost.
"""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 3.0  # seconds from a signal to the end of the chunk
JAX_CALLBACK = "_xla_gc_callback"  # called by the garbage collector; Python prints what it raises, and forgets it
A_MOMENT = 0.01  # seconds, until that callback is over


@contextmanager
def ending_at_once() -> Iterator[None]:
    """While the block runs, Ctrl-C ends the process, as it does most programs, wherever it is.

    Python's own way, an exception, is lost where it comes in a callback, and has to wait for compiled code.
    """
    with _interrupts_handled_by(signal.SIG_DFL):
        yield


@contextmanager
def raising() -> Iterator[None]:
    """While the block runs, Ctrl-C raises `KeyboardInterrupt` in it, for those who then return what they have."""
    with _interrupts_handled_by(_raise_where_it_is_heard):
        yield


@contextmanager
def _interrupts_handled_by(handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only that one may choose
        yield
        return
    former = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def _raise_where_it_is_heard(number: int, frame: FrameType | None) -> None:
    if frame is None or frame.f_code.co_name != JAX_CALLBACK:
        raise KeyboardInterrupt
    threading.Timer(A_MOMENT, os.kill, (os.getpid(), number)).start()


class WokenError(Exception):
    """A signal came while the run waited for rows."""


class Interruption:
    """Listens to signals while the block runs.

    Attributes:
        signal_number: The signal that came, or None.
    """

    def __init__(self, last_words: Callable[[], None] = lambda: None) -> None:
        self.signal_number: int | None = None
        self._last_words = last_words
        self._is_waiting = False
        self._has_stopped = threading.Event()

    @property
    def exit_code(self) -> int:
        """As shells have it: 128 and the number of the signal, 0 if there was none."""
        return 0 if self.signal_number is None else 128 + self.signal_number

    def __enter__(self) -> Self:
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._former_handlers = {number: signal.signal(number, self._handle) for number in SIGNALS}
        self._former_descriptor = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._listen, name="sgais-signals", daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.acknowledge()
        signal.set_wakeup_fd(self._former_descriptor)
        for number, handler in self._former_handlers.items():
            signal.signal(number, handler)
        self._writer.close()  # ends the thread

    def acknowledge(self) -> None:
        """The run takes in no more chunks: it may take its time to save."""
        self._has_stopped.set()

    def wait(self) -> None:
        """Until a signal comes."""
        self.acknowledge()  # there is nothing that would have to come to an end in time
        try:
            with self.waiting():
                while self.signal_number is None:
                    signal.pause()
        except WokenError:
            pass

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block runs, a signal raises `WokenError` in it: a source may have nothing to say for hours."""
        self._is_waiting = True
        try:
            yield
        finally:
            self._is_waiting = False

    def _handle(self, number: int, _: FrameType | None) -> None:
        self.signal_number = number
        if self._is_waiting:
            raise WokenError

    def _listen(self) -> None:
        with self._reader:
            while received := self._reader.recv(1):
                if received[0] not in SIGNALS:
                    continue
                self.signal_number = received[0]
                if not self._has_stopped.wait(PATIENCE):
                    self._last_words()
                    os._exit(self.exit_code)
                return
