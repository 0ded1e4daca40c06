"""`sgais demo`: data that change twice, and three models that compete for them (section 6.2 of the paper)."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from rich.console import Console

from sgais import simulate
from sgais.cli.arguments.settings import Settings
from sgais.cli.arguments.strict import StrictFlag, code_of
from sgais.cli.output.console import console_for, print_line, print_warnings
from sgais.cli.output.live import view_of
from sgais.cli.output.result import print_table, save_records, write_report
from sgais.cli.output.words import share
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.session import Session
from sgais.comparison.comparison import Comparison

COMPONENTS = (3, 5, 7)
SHARES = (0.25, 0.3, 0.45)  # of the rows, in each phase
CHUNK_SIZE = 100
# A third of the default's particles while rows are few, to be quick; the errors say what that costs.
PARAMETERS = {"num_particles": 64, "early_factor": 4}
POINTS = "points.parquet"
WIDTH, HEIGHT, INKS = 24, 9, " .:*#"  # of a picture in letters


def demo(
    rows: Annotated[int, typer.Option(min=500, help="Rows to stream.")] = 4_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the data and of the estimate.")] = 0,
    output: Annotated[Path, typer.Option(metavar="DIR", help="Folder for data and report.")] = Path("demo-output"),
    strict: StrictFlag = False,
) -> None:
    """Watch three models compete for data that change twice.

    \b
    Examples:
      sgais demo
      sgais demo --rows 1000 --seed 1 --output elsewhere

    3 Gaussians make the first rows, then 5, then 7. Mixtures of 3, 5 and 7 components are compared while the rows
    arrive, shift detectors watch, and the folder has figures and a report at the end.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    console, folder = console_for(), RunFolder(output)
    settings, phases = _settings(output / POINTS, seed), tuple(int(rows * share) for share in SHARES)
    folder.clear()
    folder.begin(settings)
    data = simulate.shifting_mixture(phases, COMPONENTS, seed=seed)
    pd.DataFrame(data.data["y"], columns=["a", "b"]).to_parquet(folder.path / POINTS)
    _introduce(console, data.data["y"], phases)

    session, errors = Session(settings, folder), console_for(is_error=True)
    print_warnings(errors)
    interruption = session.run(view_of(errors, session.title, sum(phases)))
    story = _story(session, phases)
    print_table(console, session)
    for line in story:
        print_line(console, line)
    save_records(session, folder)
    if interruption.signal_number is None:
        from sgais import plots  # Matplotlib is slow to import

        histograms = plots.histograms(data.data, list(data.parameters["phase_ends"]))
        write_report(session, folder, story, [folder.keep(histograms, "histograms")])
        _say_what_next(console, output)
    raise typer.Exit(interruption.exit_code or code_of(session.snapshot(), strict))


def _introduce(console: Console, points: np.ndarray, phases: tuple[int, ...]) -> None:
    """What arrives, to be looked at while the models are compiled."""
    print_line(console, f"{sum(phases):,} points in the plane arrive, {CHUNK_SIZE} at a time, and they change twice:\n")
    drawn = []
    for count, rows, end in zip(COMPONENTS, phases, np.cumsum(phases), strict=True):
        title = f"rows {end - rows + 1:,} to {end:,}: {count}"
        drawn.append([title, *_picture(points[end - rows : end], points)])
    for cells in zip(*drawn, strict=True):
        print_line(console, "   ".join(cell.ljust(WIDTH) for cell in cells).rstrip())
    print_line(console, "\nMixtures of 3, 5 and 7 Gaussians are told none of this. Which is right, and when?\n")


def _picture(some: np.ndarray, points: np.ndarray) -> list[str]:
    """How densely some of the points lie, in letters, a line for each height."""
    # For each coordinate, which of so many equal parts of its range a point lies in.
    low, high, parts = points.min(axis=0), points.max(axis=0), np.array([WIDTH, HEIGHT])
    places = np.minimum((some - low) / (high - low) * parts, parts - 1).astype(int)
    counts = np.zeros((WIDTH, HEIGHT))
    np.add.at(counts, (places[:, 0], places[:, 1]), 1)
    inks = np.ceil((len(INKS) - 1) * np.sqrt(counts / counts.max())).astype(int)
    return ["".join(INKS[ink] for ink in line) for line in inks.T[::-1]]


def _say_what_next(console: Console, output: Path) -> None:
    print_line(console, f"\nOpen {output / 'report.html'}: figures and all of this on one page.")
    print_line(console, "Next, a file of yours, its columns in formulas:")
    print_line(console, '  sgais compare "y ~ x" "y ~ x + z" --data FILE.csv')
    print_line(console, "or at once, on these points: does one coordinate tell of the other?")
    print_line(console, f'  sgais compare "b ~ 1" "b ~ a" --data {output / POINTS}')


def _settings(data: Path, seed: int) -> Settings:
    return Settings(
        models={f"{count} components": f"gaussian-mixture:components={count}" for count in COMPONENTS},
        source=str(data),
        is_comparison=True,
        columns={"y": ["a", "b"]},
        chunk_size=CHUNK_SIZE,
        seed=seed,
        parameters=PARAMETERS,
        working_directory=str(Path.cwd()),
    )


def _story(session: Session, phases: tuple[int, ...]) -> list[str]:
    """Who led when the data changed, when that was noticed, and how sure the end is."""
    assert isinstance(session.follower, Comparison), "the demo compares"
    comparison, records = session.follower, session.follower.records
    lines, end = [], 0
    for count, rows in zip(COMPONENTS, phases, strict=True):
        if noticed := [alarm.row for alarm in session.snapshot().alarms if 0 <= alarm.row - end < rows and end]:
            lines.append(f"At row {end:,} the data change; the first alarm comes {min(noticed) - end:,} rows later.")
        end += rows
        seen = [record for record in records if record.num_rows <= end]
        if seen and records[-1].num_rows >= end - CHUNK_SIZE:
            leader = seen[-1].models[seen[-1].leader]
            lines.append(
                f"After the phase of {count} Gaussians, at row {seen[-1].num_rows:,}: {seen[-1].leader} leads with "
                f"probability {share(leader.probability)} ({share(leader.low)} to {share(leader.high)})."
            )
    if records:
        first, second = comparison.table().index[:2]
        ahead, error = comparison.log_bayes_factor(first, second)
        lines.append(f"In the end {first} is {ahead:,.1f} ± {error:.1f} nats ahead of {second}.")
    return lines
