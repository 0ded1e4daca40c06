"""Why a request is refused, in the one shape that every error answer has."""

from typing import Any

from sgais.streams.cleaning.bad_rows import BadRow

LONGEST_REASON = 300  # characters; a cell that is shown may be of any length
MOST_ROWS = 20


class RefusalError(Exception):
    """A request that is answered with an error.

    Args:
        status: The HTTP status.
        message: For people.
        retry_after: Seconds after which it may be tried again, if it may.
        details: Further entries of the answer.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None, **details: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after, self.details = status, cut(message), retry_after, details

    def content(self) -> dict[str, Any]:
        """The answer."""
        return {"error": {"status": self.status, "message": self.message, **self.details}}


def bad_rows(rows: list[BadRow]) -> RefusalError:
    """The refusal of a batch with bad rows: the first of them, and a list of some."""
    first = rows[0]
    column = "" if first.column is None else f", column {first.column!r}"
    listed = [{"row": bad.row, "column": bad.column, "reason": cut(bad.reason)} for bad in rows[:MOST_ROWS]]
    return RefusalError(
        422,
        f"row {first.row}{column} {first.reason}. Nothing of the batch was accepted.",
        row=first.row,
        column=first.column,
        num_bad_rows=len(rows),
        bad_rows=listed,
    )


def cut(text: str) -> str:
    """A text of bounded length."""
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
