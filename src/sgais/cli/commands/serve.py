"""`sgais serve`: a service that takes observations in, and a page that shows how the models stand."""

import os
from pathlib import Path
from typing import Annotated

import typer

from sgais.cli.arguments.model_specs import complete_model, named_specs
from sgais.cli.arguments.options import EstimatorFlags, RestartFlags, ServerFlags, ServiceFlags, expanded
from sgais.cli.arguments.settings import POSTED, gather
from sgais.cli.output.console import console_for, print_warnings
from sgais.cli.serve_extra import require_extra
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.serving import Listening, begun_settings, check_same, serve_until_stopped, show
from sgais.cli.session.trust import TrustFlag, require_trust
from sgais.errors import ConfigError

HISTORY = "reservoir:100000"  # a service does not end: its memory must not grow


@expanded
def serve(
    estimator: EstimatorFlags,
    flags: ServiceFlags,
    server: ServerFlags,
    restart: RestartFlags,
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=]MODEL...", help="Models as in sgais run.", autocompletion=complete_model),
    ] = None,
    trust: TrustFlag = False,
    replay: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Only show a run that --save has written, with a slider.")
    ] = None,
) -> None:
    """Receive observations over HTTP, keep the evidence of several models up to date, and show it on a page.

    \b
    Examples:
      sgais serve all=linear-regression one=linear-regression:features=0 \\
        -c x=height,age -c y=weight --save people
      curl localhost:8321/observations -H 'Content-Type: application/json' \\
        -d '[{"height": 1.7, "age": 30, "weight": 70}]'
      sgais serve "weight ~ height" "weight ~ height + sex" --levels sex=f,m --save people
      sgais serve --save people                 (resumes where it stopped)
      sgais serve all=linear-regression age=linear-regression:features=1 \
        -c x=height,age -c y=weight --save people --change-models
      sgais serve --replay people-run           (what sgais compare --save has written)
      sgais serve --save people --host 0.0.0.0 --token-file secret.txt

    An acknowledged row is on disk. Log Z is that of sgais compare on the same rows, however they were posted.
    """  # noqa: D301 (a real backspace keeps the lines of the examples apart)
    require_extra()
    from sgais.serve.http.security import Guard
    from sgais.serve.limits import Limits

    print_warnings(console_for(is_error=True))
    limits = Limits(server.max_body_bytes, server.max_batch_rows, server.max_waiting_rows, server.max_requests)
    guard = Guard(server.host, _token(server.token_file))
    listening = Listening(server.host, server.port, guard, limits, server.trusted_proxy or (), server.root_path)
    if replay is not None:
        show(RunFolder(replay), listening)
    specs = named_specs(models or [])
    if flags.save is None:
        raise ConfigError("`--save` must be a folder, got none. Rows and checkpoints are kept there: --save DIR.")
    folder = RunFolder(flags.save)
    if folder.is_begun and not specs and flags.config is None:
        settings = begun_settings(folder)
        require_trust(folder, settings, trust)
        folder.go_where_it_was_started(settings)
    else:
        settings = gather(specs, POSTED, True, flags, estimator, history=HISTORY)
        if folder.is_begun:
            check_same(folder, settings, restart.change_models)
    serve_until_stopped(folder, settings, listening, restart.accept_lost_rows)


def _token(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get("SGAIS_TOKEN") or None
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"`--token-file` must be a file that can be read, got {path}: {error}.") from error
