"""Reads of a request what it may hold, and nothing else: type, key, numbers, and a body of bounded size and time."""

import asyncio
import math
import re
from collections.abc import Collection

from starlette.requests import ClientDisconnect, Request

from sgais.serve.refusal import RefusalError

BODY_SECONDS = 30.0  # for the whole of a body
LINGER_SECONDS = 2.0  # for one that says that it is too large
KEY = re.compile(r"[\x21-\x7e]{1,200}")


def media_type_of(request: Request, known: Collection[str]) -> str:
    """The type of the body, one of those known."""
    header = request.headers.get("content-type", "")
    media_type, *parameters = [part.strip().lower() for part in header.split(";")]
    if media_type not in known or any(each not in ("", "charset=utf-8", 'charset="utf-8"') for each in parameters):
        raise RefusalError(415, f"Content-Type must be one of {', '.join(known)}, in UTF-8.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RefusalError(415, "a body must not be compressed.")
    return media_type


def key_of(request: Request) -> str | None:
    """The idempotency key, if there is one."""
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    if len(keys) > 1 or not KEY.fullmatch(keys[0]):
        raise RefusalError(400, "Idempotency-Key must be one text of 1 to 200 visible ASCII characters.")
    return keys[0]


async def body_of(request: Request, most_bytes: int) -> bytes:
    """The body, which may neither be too large nor take too long."""
    said = request.headers.get("content-length", "0")
    is_too_large = said.isdigit() and int(said[:20]) > most_bytes
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(LINGER_SECONDS if is_too_large else BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                is_too_large = is_too_large or size > most_bytes
                if not is_too_large:
                    parts.append(part)
                elif size > 2 * most_bytes:
                    break
    except TimeoutError as error:
        if not is_too_large:
            raise RefusalError(408, f"a body must come within {BODY_SECONDS:g} seconds.") from error
    except ClientDisconnect as error:
        raise RefusalError(400, "the body was cut off.") from error
    if is_too_large:
        # It was read on for a while, to nowhere: who is still sending would not hear the answer.
        raise RefusalError(413, f"a body must have at most {most_bytes} bytes.")
    return b"".join(parts)


def number_of(request: Request, name: str, default: float, least: float, most: float) -> float:
    """A number in the query."""
    texts = request.query_params.getlist(name)
    if not texts:
        return default
    value = math.nan
    if len(texts) == 1 and re.fullmatch(r"-?[0-9]{1,15}", texts[0]):
        value = float(texts[0])
    if not least <= value <= most:
        raise RefusalError(400, f"`{name}` must be one whole number from {least:.0f} to {most:.0f}.")
    return value
