"""What a run looks like while it continues: a view that stays in place in a terminal, a line now and then elsewhere.

It goes to standard error, so that the result can be piped on.
"""

import math
import time
from typing import Any, Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from sgais.cli.output.console import print_line
from sgais.cli.output.words import alarm_lines, beware_lines, decision_lines, duration, per_row, share
from sgais.monitoring.snapshot import Snapshot
from sgais.monitoring.throughput import Pace

REFRESHES_PER_SECOND = 4
SECONDS_BETWEEN_LINES = 10.0
MOST_ALARMS = 4
MOST_BEWARES = 3
WIDE = 110  # columns from which on there is room for Bayes factors
COMPILING = "compiling the models, once; later runs start at once"


class View(Protocol):
    """Something that a run can be shown on."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...
    def show(self, snapshot: Snapshot) -> None:
        """The run stands here now."""

    def let_go(self, line: str) -> None:
        """The process ends: leave the terminal as it was, and say why."""


def view_of(console: Console, title: str, total_rows: int | None) -> View:
    """The view that suits where it is written to; `FORCE_COLOR` makes no terminal of a log file."""
    if console.is_terminal and console.file.isatty() and not console.is_dumb_terminal:
        return LiveView(console, title, total_rows)
    return LineView(console, title, total_rows)


class Headway(Pace):
    """How fast rows have come lately, and how long the others will take."""

    def __init__(self, total_rows: int | None) -> None:
        super().__init__()
        self._total_rows = total_rows

    def words(self, snapshot: Snapshot) -> str:
        """Rows, speed, time left and bad rows, as far as they are known."""
        rows = f"{snapshot.num_rows:,}"
        parts = [f"{rows} of {self._total_rows:,} rows" if self._total_rows else f"{rows} rows"]
        if math.isfinite(self.rows_per_second):
            parts.append(f"{self.rows_per_second:,.0f} rows/s")
        if self._total_rows and math.isfinite(self.seconds_per_row):
            left = self._total_rows - snapshot.num_rows - snapshot.num_bad_rows
            parts.append(f"{duration(max(left, 0) * self.seconds_per_row)} left")
        if snapshot.num_bad_rows:
            parts.append(f"{snapshot.num_bad_rows:,} bad")
        return "  ".join(parts)


class LiveView:
    """A view that is drawn again in its place."""

    def __init__(self, console: Console, title: str, total_rows: int | None) -> None:
        self._console, self._title, self._total_rows = console, title, total_rows
        self._pace = Headway(total_rows)
        self._snapshot: Snapshot | None = None
        self._begun = time.monotonic()
        self._live = Live(
            console=console, get_renderable=self._draw, refresh_per_second=REFRESHES_PER_SECOND, transient=True
        )

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def show(self, snapshot: Snapshot) -> None:
        """Drawn at the next refresh."""
        self._pace.note(snapshot.num_rows)
        self._snapshot = snapshot

    def let_go(self, line: str) -> None:
        """Above the view, which stays; the cursor is shown again."""
        print_line(self._console, line)
        self._console.show_cursor(True)

    def _draw(self) -> RenderableType:
        """Every line fits: nothing wraps, and nothing is higher than the terminal."""
        if self._snapshot is None:
            waited = duration(time.monotonic() - self._begun)  # something moves: the run has not died
            return Group(_cut(self._title, "bold"), _cut(f"{COMPILING}  {waited}", ""), Text())
        snapshot = self._snapshot
        alarms = alarm_lines(snapshot.alarms)
        shown = alarms[-MOST_ALARMS:]
        beware = beware_lines(snapshot)[:MOST_BEWARES]
        decided = decision_lines(snapshot.decision)
        room = max(self._console.height - len(shown) - len(beware) - len(decided) - 6, 1)
        parts: list[RenderableType] = [_cut(self._title, "bold"), self._progress(snapshot)]
        parts.append(_table(snapshot, self._console.width, room))
        parts += [_cut(line, "green") for line in decided]
        parts += [_cut(f"! {alarm}", "yellow") for alarm in shown]
        parts += [_cut(line, "red") for line in beware]
        return Group(*parts, Text())  # the cursor waits on a line of its own, where the terminal may echo ^C

    def _progress(self, snapshot: Snapshot) -> RenderableType:
        words = Text(self._pace.words(snapshot), no_wrap=True, overflow="ellipsis")
        if not self._total_rows:
            return words
        grid = Table.grid(expand=True, padding=(0, 2, 0, 0))
        grid.add_column(ratio=1)
        grid.add_column(no_wrap=True)
        grid.add_row(ProgressBar(self._total_rows, snapshot.num_rows + snapshot.num_bad_rows), words)
        return grid


class LineView:
    """A line now and then, for logs; alarms as they come."""

    def __init__(self, console: Console, title: str, total_rows: int | None) -> None:
        self._console, self._title = console, title
        self._pace = Headway(total_rows)
        self._last_line = -math.inf
        self._alarms_told: set[str] = set()

    def __enter__(self) -> Self:
        self._tell(f"{self._title}: {COMPILING}")
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def show(self, snapshot: Snapshot) -> None:
        """A line if the last one is some time ago, and one for each new alarm."""
        self._pace.note(snapshot.num_rows)
        for alarm in snapshot.alarms:
            told = f"{alarm.location}"
            if told not in self._alarms_told:
                self._alarms_told.add(told)
                self._tell(f"ALARM: {alarm_lines([alarm])[0]}")
        if time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            name, first = next(iter(snapshot.standings.items()))
            leader = f"  {name} {share(first.probability)}" if snapshot.is_comparison else ""
            beware = f"  BEWARE: {first.warning}" if first.warning else ""
            number = per_row(first, snapshot.num_rows)
            decision = "".join(f"  {line}" for line in decision_lines(snapshot.decision))
            self._tell(f"{self._pace.words(snapshot)}  log Z per row {number}{leader}{decision}{beware}")

    def let_go(self, line: str) -> None:
        """There is only the line."""
        self._tell(line)

    def _tell(self, line: str) -> None:
        print_line(self._console, line)


def _table(snapshot: Snapshot, width: int, room: int) -> Table:
    is_compared = snapshot.is_comparison
    table = Table(box=None, padding=(0, 2, 0, 0), expand=True)
    table.add_column("model", no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column("log Z per row", no_wrap=True, justify="right", min_width=23)
    if is_compared and width >= WIDE:
        table.add_column("log Bayes factor", no_wrap=True, justify="right", min_width=16)
    if is_compared:
        table.add_column("", no_wrap=True, ratio=2)
        table.add_column("probability", no_wrap=True, justify="right", min_width=11)
    best = next(iter(snapshot.standings.values()))
    for name, standing in list(snapshot.standings.items())[:room]:
        cells: list[RenderableType] = [name, per_row(standing, snapshot.num_rows)]
        if is_compared and width >= WIDE:
            cells.append(f"{standing.log_evidence - best.log_evidence:,.1f}")
        if is_compared:
            cells += [ProgressBar(1.0, standing.probability), share(standing.probability)]
        table.add_row(*cells)
    for name in list(snapshot.failures)[: max(room - len(snapshot.standings), 0)]:
        table.add_row(name, "failed")
    return table


def _cut(text: str, style: str) -> Text:
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")
