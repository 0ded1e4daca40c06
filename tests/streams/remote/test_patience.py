import time

import pytest

from sgais.errors import DataError
from sgais.streams.remote.address import Address
from sgais.streams.remote.patience import Follow, retried
from sgais.streams.source import Piece

ADDRESS = Address.of("nats://me:secret@host/rows", "NONE")


def unsteady(outcomes):
    """A reader that fails or hands out a piece of so many rows, each time that it is begun."""
    left = iter(outcomes)

    def read_on():
        for outcome in left:
            if isinstance(outcome, Exception):
                raise outcome
            yield Piece({}, outcome)

    return read_on


def test_a_reader_is_begun_anew_where_it_stopped():
    outcomes = [3, ConnectionError("gone"), ConnectionError("still gone"), 4, ConnectionError("gone"), 5]
    pieces = retried(unsteady(outcomes), ADDRESS, (ConnectionError,), seconds=30)
    assert [piece.num_rows for piece in pieces if piece.num_rows] == [3, 4, 5]


def test_there_is_an_end_to_it_that_says_what_to_do_and_no_secret():
    started = time.monotonic()
    pieces = retried(unsteady([2] + [ConnectionError("secret is wrong")] * 99), ADDRESS, (ConnectionError,), 0.3)
    with pytest.raises(
        DataError, match=r"`nats://host/rows` must answer within 0.3 seconds, got ConnectionError: \*\*\*"
    ) as caught:
        list(pieces)
    assert time.monotonic() - started >= 0.3
    assert caught.value.__suppress_context__, "a traceback would show what the library said"


def test_other_errors_are_not_tried_again():
    with pytest.raises(DataError, match="no such stream"):
        list(retried(unsteady([DataError("no such stream"), 1]), ADDRESS, (ConnectionError,), 30))


def test_following_ends_when_nothing_has_come_for_so_long():
    assert Follow(None).is_over
    assert not Follow(None).is_following
    follow = Follow(0.05)
    assert not follow.is_over
    time.sleep(0.06)
    assert follow.is_over
    follow.note_news()
    assert not follow.is_over
