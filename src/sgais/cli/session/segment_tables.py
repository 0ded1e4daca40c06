"""The tables and the figure of change points in the folder of a run: written, and read again."""

import pandas as pd

from sgais.changepoints import ChangePoints, Segment, Segmentation
from sgais.cli.output.segments import borders, segments_table
from sgais.cli.session.folder import RunFolder
from sgais.errors import SgaisError

RECORDS, CHANGES, SEGMENTS, FIGURE = "records.csv", "changes.csv", "segments.csv", "change_points"


def write(points: ChangePoints, folder: RunFolder) -> None:
    """What every chunk found, and where the stream has changed as of now."""
    segmentation = points.segmentation
    with folder.explained():
        points.to_frame().to_csv(folder.path / RECORDS, index=False)
        borders(segmentation).to_csv(folder.path / CHANGES, index=False)
        segments_table(segmentation).to_csv(folder.path / SEGMENTS, index=False)


def draw(segmentation: Segmentation, folder: RunFolder) -> list[str]:
    """Draw the figure, and return the name of its file."""
    from sgais import plots  # Matplotlib is slow to import

    return [folder.keep(plots.change_points(segmentation), FIGURE)]


def read(folder: RunFolder) -> tuple[pd.DataFrame, Segmentation]:
    """The records of a saved run, and where its stream has changed."""
    try:
        records, changes, segments = (
            pd.read_csv(folder.path / name, float_precision="round_trip") for name in (RECORDS, CHANGES, SEGMENTS)
        )
    except (OSError, pd.errors.EmptyDataError) as error:
        raise SgaisError(
            f"`{folder.path}` must hold {RECORDS}, {CHANGES} and {SEGMENTS}, got {error}. Run it to an end first."
        ) from error
    found = [Segment(*line) for line in segments.itertuples(index=False)]
    records = records.fillna({"warning": ""})
    rows, probability = changes["row"].to_numpy(), changes["probability"].to_numpy()
    return records, Segmentation(int(records["num_rows"].iloc[-1]), rows, probability, found)
