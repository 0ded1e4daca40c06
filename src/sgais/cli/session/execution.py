"""What `run`, `compare` and `resume` have in common once their settings are known."""

import sys

import typer
from rich.console import Console

from sgais.cli.arguments.options import Output, StreamFlags
from sgais.cli.arguments.settings import Settings
from sgais.cli.arguments.strict import code_of
from sgais.cli.output.console import console_for, print_line, print_warnings
from sgais.cli.output.live import view_of
from sgais.cli.output.result import print_result, save_records, write_report
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.session import Session


def start(settings: Settings, flags: StreamFlags) -> None:
    """Begin a run and see it through."""
    folder = None if flags.save is None else RunFolder(flags.save)
    if folder is not None:
        folder.check_is_free()
        folder.clear()
    session = Session(settings, folder)
    if folder is not None:
        folder.begin(settings)
    if flags.live:
        from sgais.cli.output.live_page import shown

        with shown(session):
            run_to_end(session, flags.output, flags.strict)
    else:
        run_to_end(session, flags.output, flags.strict)


def run_to_end(session: Session, output: Output, is_strict: bool) -> None:
    """Take in the stream, save and print; the exit code says whether a signal ended it, or what `--strict` asks."""
    console = console_for(is_error=True)
    print_warnings(console)
    interruption = session.run(view_of(console, session.title, getattr(session.stream, "total_rows", None)))
    is_interrupted = interruption.signal_number is not None
    if session.folder is not None and session.follower.num_rows:
        save_records(session, session.folder)
        if not is_interrupted:  # figures take a while, and somebody waits for the process to end
            write_report(session, session.folder)
    print_result(session, output)
    _say_what_next(console, session, is_interrupted)
    sys.stdout.flush()
    raise typer.Exit(interruption.exit_code or code_of(session.snapshot().lines, is_strict))


def _say_what_next(console: Console, session: Session, is_interrupted: bool) -> None:
    stopped = f"Stopped after {session.follower.num_rows:,} rows. " if is_interrupted else ""
    if session.folder is None:
        cure = "Only a run with --save DIR can be gone on with." if is_interrupted else ""
        line = stopped + cure
    elif is_interrupted:
        line = f"{stopped}Go on with: sgais resume {session.folder.path}"
    else:
        line = f"Wrote {session.folder.path / 'report.html'}, figures, records and a checkpoint."
    if line:
        print_line(console, line)
