"""Reading ahead: a background thread fills a short queue while the caller computes."""

import atexit
import queue
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

BETWEEN_LOOKS = 0.1  # seconds
PATIENCE = 0.5  # seconds for a thread to come to its end

Item = TypeVar("Item")
_running: "WeakKeyDictionary[threading.Thread, threading.Event]" = WeakKeyDictionary()


class _End(NamedTuple):
    """The last thing in the queue: the source has ended, or has failed."""

    error: BaseException | None


def read_ahead(items: Iterator[Item], depth: int) -> Iterator[Item]:
    """The same items, up to `depth` of them fetched before they are asked for.

    An error comes after the items before it. Closing or forgetting the iterator ends the thread, at the latest
    when its source hands out the next item; a live source should hand out empty ones while it waits.
    """
    if depth == 0:
        return items
    return _consume(items, depth)


def _consume(items: Iterator[Item], depth: int) -> Iterator[Item]:
    ready: queue.Queue[Any] = queue.Queue(maxsize=depth)
    stop = threading.Event()
    # The thread holds nothing of the consumer, so that it cannot keep alive what would tell it to stop.
    thread = threading.Thread(target=_fill, args=(items, ready, stop), name="sgais-stream", daemon=True)
    _running[thread] = stop
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()


def _fill(items: Iterator[Item], ready: "queue.Queue[Any]", stop: threading.Event) -> None:
    try:
        for item in items:
            if not _put(item, ready, stop):
                return
        _put(_End(None), ready, stop)
    except BaseException as error:
        _put(_End(error), ready, stop)
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()


def _put(item: object, ready: "queue.Queue[Any]", stop: threading.Event) -> bool:
    """Wait for room; False once there is nobody left to take the item."""
    while not stop.is_set():
        try:
            ready.put(item, timeout=BETWEEN_LOOKS)
        except queue.Full:
            continue
        return True
    return False


@atexit.register
def _end_all() -> None:
    """A thread that is reading when Python shuts down, in Arrow's code say, would end the process with an abort."""
    waiting = dict(_running)
    for stop in waiting.values():
        stop.set()
    for thread in waiting:
        thread.join(PATIENCE)  # one that waits for a terminal or a pipe does no harm
