"""Reading ahead: a background thread fills a short queue while the caller computes."""

import queue
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

Item = TypeVar("Item")


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
    threading.Thread(target=_fill, args=(items, ready, stop), name="sgais-stream", daemon=True).start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        _empty(ready)  # makes room for the one item that the thread may be waiting to put


def _fill(items: Iterator[Item], ready: "queue.Queue[Any]", stop: threading.Event) -> None:
    try:
        for item in items:
            ready.put(item)
            if stop.is_set():
                return
        ready.put(_End(None))
    except BaseException as error:
        ready.put(_End(error))
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            close()


def _empty(ready: "queue.Queue[Any]") -> None:
    try:
        while True:
            ready.get_nowait()
    except queue.Empty:
        pass
