"""Change points on a stream, as a command: begun, shown, written and printed."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sgais.changepoints import ChangePoints
from sgais.cli.arguments.model_specs import models_of
from sgais.cli.arguments.options import Output
from sgais.cli.arguments.settings import Settings
from sgais.cli.output.console import console_for
from sgais.cli.output.segments import as_json, borders, print_segments
from sgais.cli.session import segment_tables
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.session import config_of, history_of, open_stream, source_name
from sgais.streams.remote.address import without_password


class Segmented:
    """What `followed.py` wants to know.

    Args:
        is_live: Whether a page in the browser follows the run.
    """

    def __init__(self, is_live: bool = False) -> None:
        self._is_live = is_live

    def begun(self, settings: Settings, folder: RunFolder | None) -> ChangePoints:
        """New ones, or those of the checkpoint."""
        models = models_of(settings)
        if folder is not None and folder.has_checkpoint:
            return ChangePoints.load(folder.checkpoint, models)
        assert settings.hazard is not None, "settings of a run that looks for change points"
        return ChangePoints(
            models,
            hazard=settings.hazard,
            config=config_of(settings),
            seed=settings.seed,
            history=history_of(settings.history, folder),
            bank=settings.bank,
        )

    def stream(self, points: ChangePoints, settings: Settings) -> Any:
        """The chunks."""
        return open_stream(settings, list(points.models.values()))

    @contextmanager
    def shown(self, points: ChangePoints, settings: Settings) -> Iterator[Sequence[Callable[[Any], None]]]:
        """The page, if there is to be one."""
        if not self._is_live:
            yield ()
            return
        from sgais.cli.output.live_page import shown_points

        with shown_points(points, f"Change points in {source_name(settings)}", settings.chunk_size) as show:
            yield (show,)

    def write(self, points: ChangePoints, folder: RunFolder, has_figure: bool) -> str:
        """Tables, and a figure, which takes a while: not where somebody waits for the process to end."""
        segment_tables.write(points, folder)
        if has_figure:
            segment_tables.draw(points.segmentation, folder)
        return "tables, a figure and a checkpoint"

    def print(self, points: ChangePoints, settings: Settings, output: Output) -> None:
        """The segments; as CSV every border of chunks."""
        if output is Output.JSON:
            print(json.dumps(as_json(points, without_password(settings.source)), indent=2))
        elif output is Output.CSV:
            print(borders(points.segmentation).to_csv(index=False), end="")
        else:
            print_segments(console_for(), points)

    def has_warning(self, points: ChangePoints) -> bool:
        """Whether the last record warns."""
        last = points.last_record
        return last is not None and bool(last.warning)
