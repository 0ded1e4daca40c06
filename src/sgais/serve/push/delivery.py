"""From a source that sends by itself to the log: a message is let go once it is on disk, or set aside for good."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sgais.serve.intake.intake import SMALL_BODY, Intake
from sgais.serve.push.set_aside import SetAside
from sgais.serve.refusal import RefusalError

MAY_PASS = (409, 429, 503, 507)  # refusals after which the same message may be taken
SECONDS_BETWEEN_LOOKS = 0.1  # at whether the service ends
NO_ROOM_SECONDS = 10.0  # where what is set aside cannot be written


class Message(NamedTuple):
    """What was sent.

    Attributes:
        origin: Where it comes from, for people.
        media_type: Of its body, one of those that are posted.
        body: Rows.
        key: By which it is known when it is sent again; None if it has none.
    """

    origin: str
    media_type: str
    body: bytes
    key: str | None


class Delivery:
    """The way of messages into a service; used by the thread of a source.

    Args:
        intake: Of the service.
        loop: That the intake belongs to.
        set_aside: Where messages go that no model could take.
        most_bytes: The largest body.
    """

    def __init__(self, intake: Intake, loop: asyncio.AbstractEventLoop, set_aside: SetAside, most_bytes: int) -> None:
        self._intake, self._loop, self._set_aside, self._most_bytes = intake, loop, set_aside, most_bytes
        self._is_closed = threading.Event()

    def deliver(self, messages: Sequence[Message]) -> bool:
        """Wait until nothing of these can be lost any more; False if the service ends before."""
        return asyncio.run_coroutine_threadsafe(self._deliver(messages), self._loop).result()

    def close(self) -> None:
        """Wait no longer."""
        self._is_closed.set()

    async def _deliver(self, messages: Sequence[Message]) -> bool:
        for group in self._groups(messages):
            waiting: Sequence[Message] = group
            while waiting:
                held_up: list[float] = []
                are_done = await asyncio.gather(*(self._tried(message, held_up) for message in waiting))
                waiting = [message for message, is_done in zip(waiting, are_done, strict=True) if not is_done]
                if waiting and not await self._slept(max(held_up)):
                    return False
        return True

    def _groups(self, messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
        """Those that are written together; one that is looked at in a thread must not be overtaken by the next."""
        group: list[Message] = []
        for message in messages:
            if self._intake.admission.is_tried and len(message.body) <= SMALL_BODY:
                group.append(message)
                continue
            yield from (group, [message])
            group = []
        yield group

    async def _tried(self, message: Message, held_up: list[float]) -> bool:
        """Whether it is on disk or set aside; if not, after how many seconds it may be tried again.

        One that has to wait is not overtaken by those behind it: they are not tried.
        """
        if held_up:
            return False
        pause = await self._pause(message)
        held_up += [pause] if pause else []
        return not pause

    async def _pause(self, message: Message) -> float:
        try:
            if len(message.body) > self._most_bytes:
                raise RefusalError(413, f"a message must have at most {self._most_bytes} bytes.")
            await self._intake.take(message.media_type, message.body, message.key)
        except RefusalError as refusal:
            if refusal.status in MAY_PASS:
                return float(refusal.retry_after or 1)
            return self._kept(message, refusal.message)
        except OSError:
            return NO_ROOM_SECONDS
        except Exception as error:  # one message must not be the end of all that come after it
            return self._kept(message, f"{type(error).__name__}: {error}")
        return 0.0

    def _kept(self, message: Message, reason: str) -> float:
        if not self._set_aside.keep(message.origin, reason, message.body):
            return NO_ROOM_SECONDS
        self._intake.counts.set_aside += 1
        return 0.0

    async def _slept(self, seconds: float) -> bool:
        """Whether there was time for it."""
        end = self._loop.time() + seconds
        while self._loop.time() < end and not self._is_closed.is_set():
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        return not self._is_closed.is_set()
