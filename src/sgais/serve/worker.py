"""The one thread that owns the comparison: it reads rows from the log, in chunks, and takes them in.

Chunks are cut by the numbers of the rows, every `chunk_size` of them, however they were posted: the same rows in the
same order give the same bits, in this process, after a restart, and in a run over a file.
"""

import threading
import warnings
from pathlib import Path
from typing import Any

from sgais.checkpoint import Schedule
from sgais.errors import DataError, EstimationError, HistoryError, SgaisError
from sgais.fields import Chunk
from sgais.monitoring.alarms import new_alarms
from sgais.monitoring.snapshot import snapshot_of
from sgais.run_loop import Checkpoints, RunLoop
from sgais.serve.board.board import COMPILING, FAILED, RUNNING
from sgais.serve.intake.intake import Intake
from sgais.serve.log.reader import LogReader
from sgais.serve.log.row_log import RowLog
from sgais.serve.predictions import Forecaster
from sgais.serve.refusal import cut
from sgais.serve.state import ServiceState

KEPT_RECORDS = 256  # of a comparison; the board keeps the rest, thinned
SECONDS_BETWEEN_LOOKS = 0.02  # at a log with too few rows for a chunk
SECONDS_BETWEEN_TRIES = 1.0  # where the disk is full
FIRST_CHUNK = "The first chunk takes a while: the models are compiled."


class Worker:
    """Takes in what is in the log.

    Args:
        state: Of the service.
        log: Its rows.
        intake: Told how many rows have been taken in, or why no more can be.
        checkpoint: The file for checkpoints.
        checkpoint_seconds: From one to the next.
        chunk_size: Rows per chunk.
    """

    def __init__(
        self,
        state: ServiceState,
        log: RowLog,
        intake: Intake,
        checkpoint: Path,
        checkpoint_seconds: float,
        chunk_size: int,
    ) -> None:
        self._state, self._log, self._intake = state, log, intake
        self._checkpoint, self._chunk_size = checkpoint, chunk_size
        schedule = Schedule(every_seconds=checkpoint_seconds)
        self._checkpoints = Checkpoints(state.comparison, schedule, self._save)
        self._loop: RunLoop[Any] = RunLoop(state.comparison, self._checkpoints, [lambda _: self._show()])
        self._reader = LogReader(log, self._position)
        self._is_warm = False  # whether a chunk has been taken in since the start
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sgais-worker", daemon=True)
        self._saved_rows = self._position  # up to which the newest checkpoint goes
        self.forecaster = Forecaster.of(state.comparison)
        intake.note_taken_in(self._position)

    @property
    def saved_rows(self) -> int:
        """Rows of the log that are behind the newest checkpoint."""
        return self._saved_rows

    @property
    def rows_set_aside(self) -> int:
        """Rows that were set aside."""
        return self._state.comparison.place.num_bad_rows

    @property
    def _position(self) -> int:
        """In the log, rows that were set aside included."""
        return self._state.comparison.place.position

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, patience: float) -> bool:
        """End behind the present chunk, with a checkpoint; tells whether that was done in time."""
        self._is_stopped.set()
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._state.board.say(RUNNING)
            self._take_in_all()
        except SgaisError as error:
            self._fail(str(error))
        except Exception as error:  # the thread is the only one to notice
            self._fail(f"{type(error).__name__}: {error}")

    def _take_in_all(self) -> None:
        while not self._is_stopped.is_set():
            if not self._tried_chunk():
                self._is_stopped.wait(SECONDS_BETWEEN_LOOKS)
                self._checkpoints.save_if_due()
        self._checkpoints.save()

    def _tried_chunk(self) -> bool:
        """Take in the next chunk if it is there and can be read."""
        try:
            return self._take_in_chunk()
        except OSError as error:  # no descriptor is left, say: the rows are safe, and it may pass
            self._state.board.say(RUNNING, f"the log cannot be read: {error.strerror or error}. Trying again.")
            self._is_stopped.wait(SECONDS_BETWEEN_TRIES)
            return False

    def _take_in_chunk(self) -> bool:
        """Take in the next chunk if it is there."""
        chunk = self._reader.take(self._chunk_size)
        if chunk is None:
            return False
        if not self._is_warm:
            self._state.board.say(COMPILING, FIRST_CHUNK)
        try:
            self._update(chunk)
        except (DataError, EstimationError) as error:
            self._set_aside(str(error))
        return True

    def _update(self, chunk: Chunk) -> None:
        """Let the models take in a chunk, unless a stop prevents it."""
        while True:
            try:
                self._loop.take_in(chunk)
                return
            except HistoryError as error:  # a disk that is full: it is as if it had not been tried
                self._state.board.say(RUNNING, f"{error} Trying again.")
                if self._is_stopped.wait(SECONDS_BETWEEN_TRIES):
                    return

    def _set_aside(self, why: str) -> None:
        """Continue without a chunk that all models find impossible: one absurd row must not be the end of a service."""
        first = self._position
        self._loop.pass_over(self._chunk_size)
        self._intake.note_taken_in(self._position)
        message = f"rows {first} to {self._position - 1} were set aside: {why}"
        warnings.warn(message, stacklevel=2)
        self._state.board.say(RUNNING, cut(message))

    def _show(self) -> None:
        comparison = self._state.comparison
        self._intake.note_taken_in(self._position)
        self._is_warm = True
        try:
            self._state.board.note(snapshot_of(comparison), new_alarms(comparison))
        except OSError as error:  # what is only shown ends nothing
            warnings.warn(f"a point of the curves is missing: {error}", stacklevel=2)
        comparison.keep_records(KEPT_RECORDS)
        self.forecaster = Forecaster.of(comparison)

    def _save(self) -> None:
        """Write a checkpoint and drop the part of the log that neither it nor the one before it needs."""
        rows = self._position
        if rows == self._saved_rows:
            return
        self._state.acknowledged = self._log.end_row
        self._state.save(self._checkpoint)
        self._log.start_new_file()
        self._log.drop_before(self._saved_rows)
        self._saved_rows = rows

    def _fail(self, why: str) -> None:
        self._intake.failure = why
        self._state.board.say(FAILED, why)
