"""A model that joined others in mid-stream, when not every row was kept: from where on its log Z is its own."""

from typing import NamedTuple


class Joined(NamedTuple):
    """Where a model has come from; nothing but zeros for one that has seen every row.

    Attributes:
        first_row: The first row that it has learnt from.
        row: The first row that counts. Before it, the model stands for the mixture of those that were there.
        log_evidence: The mixture's log Z of the rows before that, less the model's own of those it learnt from.
        standard_error: Of the mixture's.
    """

    first_row: int = 0
    row: int = 0
    log_evidence: float = 0.0
    standard_error: float = 0.0

    @property
    def warning(self) -> str:
        """What there is to say of log Z because of it; empty if the model has seen every row."""
        if not self.row:
            return ""
        return (
            f"it joined at row {self.row:,}, having learnt from the {self.row - self.first_row:,} rows before it: "
            "its log Z counts from there on, and up to there is that of the other models' mixture"
        )
