"""What sources with bookmarks share: to whom a bookmark belongs, and what is said when rows are gone."""

from collections.abc import Iterator

from sgais.errors import DataError
from sgais.streams.source import Bookmark, Column, Labels, Piece, past_the_end


def check_kind(name: str, bookmark: Bookmark, kind: str) -> Bookmark:
    """Refuse the bookmark of a source of another kind."""
    if bookmark.get("kind") != kind:
        raise DataError(
            f"`{name}` must be the source that the checkpoint was written for, got a bookmark of a "
            f"{bookmark.get('kind')} source. Go on with that one, or start a new run."
        )
    return bookmark


def rows_gone(name: str, missing: str) -> DataError:
    """The error of a source that no longer has the rows that follow a bookmark."""
    return DataError(
        f"`{name}` must still have the rows behind the checkpoint, got {missing}. Bring them back, or start a new run "
        "on what is there: evidence that leaves out rows would be that of other data."
    )


def skipped(pieces: Iterator[Piece], start: int, name: str) -> Iterator[Piece]:
    """The pieces without the first so many rows."""
    to_skip = start
    for piece in pieces:
        skip = min(to_skip, piece.num_rows)
        to_skip -= skip
        yield behind(piece, skip) if skip else piece
    if to_skip:
        raise past_the_end(name, start, start - to_skip)


def behind(piece: Piece, count: int) -> Piece:
    """A piece without its first rows."""
    marked = piece.bookmark_behind
    return Piece(
        {name: _behind(column, count) for name, column in piece.columns.items()},
        piece.num_rows - count,
        {place - count: broken for place, broken in piece.broken.items() if place >= count},
        None if piece.lines is None else piece.lines[count:],
        None if marked is None else lambda rows: marked(rows + count),
    )


def _behind(column: Column, count: int) -> Column:
    return Labels(column.codes[count:], column.names) if isinstance(column, Labels) else column[count:]
