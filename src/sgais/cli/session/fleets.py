"""A fleet on a keyed stream, as a command: begun, written and printed."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from sgais.cli.arguments.model_specs import models_of
from sgais.cli.arguments.options import Output
from sgais.cli.arguments.settings import Settings
from sgais.cli.output.console import console_for
from sgais.cli.output.keys import alarms_table, as_json, page, print_fleet, switches_table
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.session import config_of, open_stream
from sgais.fields import Field
from sgais.fleet import Fleet
from sgais.streams.remote.address import without_password


class Fleets:
    """What `followed.py` wants to know."""

    def begun(self, settings: Settings, folder: RunFolder | None) -> Fleet:
        """A new one, or that of the checkpoint."""
        models = models_of(settings)
        if folder is not None and folder.has_checkpoint:
            return Fleet.load(folder.checkpoint, models)
        assert settings.by is not None, "settings of a run with keys"
        return Fleet(models, settings.by, settings.seed, config_of(settings))

    def stream(self, fleet: Fleet, settings: Settings) -> Any:
        """The chunks, with the column of keys."""
        columns = settings.columns | {fleet.key: fleet.key} if settings.columns else settings.columns
        keyed = {fleet.key: Field(is_as_it_comes=True)}
        return open_stream(replace(settings, columns=columns), list(models_of(settings).values()), keyed)

    def shown(self, fleet: Fleet, settings: Settings) -> AbstractContextManager[Sequence[Any]]:  # noqa: ARG002
        """Nobody is told on the way."""
        return nullcontext(())

    def write(self, fleet: Fleet, folder: RunFolder, has_figure: bool) -> str:  # noqa: ARG002, there is none
        """Tables, and a page."""
        fleet.table().to_csv(folder.path / "keys.csv")
        fleet.to_frame().to_csv(folder.path / "models.csv", index=False)
        alarms_table(fleet).to_csv(folder.path / "alarms.csv", index=False)
        switches_table(fleet).to_csv(folder.path / "switches.csv", index=False)
        (folder.path / "report.html").write_text(page(fleet), encoding="utf-8")
        return "tables, a page and a checkpoint"

    def print(self, fleet: Fleet, settings: Settings, output: Output) -> None:
        """The keys to which most has happened; as CSV all of them."""
        if output is Output.JSON:
            print(json.dumps(as_json(fleet, without_password(settings.source)), indent=2))
        elif output is Output.CSV:
            print(fleet.table().to_csv(), end="")
        else:
            print_fleet(console_for(), fleet)

    def has_warning(self, fleet: Fleet) -> bool:
        """Whether one of the keys is to be looked at."""
        return bool((fleet.table()["note"] != "").any())
