"""What `run`, `compare` and `resume` have in common once their settings are known."""

import contextlib
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
from sgais.cli.session.trust import how_to_resume
from sgais.errors import DataError, SgaisError
from sgais.streams.remote.address import without_password

NOT_SAVED = 1  # the exit code of a run that was printed, but could not be saved


def start(settings: Settings, flags: StreamFlags) -> None:
    """Begin a run and see it through."""
    folder = None if flags.save is None else RunFolder(flags.save)
    if folder is not None:
        folder.check_is_free()
    with contextlib.nullcontext() if folder is None else folder.claimed():
        session = _begun(settings, folder)
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
    if not session.follower.num_rows and not is_interrupted:
        raise _nothing(session)
    is_saved = _save(console, session, is_interrupted)
    print_result(session, output)
    _say_what_next(console, session, is_interrupted, is_saved)
    sys.stdout.flush()
    code = code_of(session.snapshot(), is_strict) if is_saved else NOT_SAVED
    raise typer.Exit(interruption.exit_code or code)


def _begun(settings: Settings, folder: RunFolder | None) -> Session:
    if folder is None:
        return Session(settings)
    folder.check_is_free()  # now that nobody else can begin one
    folder.clear()
    session = Session(settings, folder)
    folder.begin(settings)
    return session


def _save(console: Console, session: Session, is_interrupted: bool) -> bool:
    """Write records and report; a disk that is full costs files, and not the result, which is still to be printed."""
    if session.folder is None or not session.follower.num_rows:
        return True
    try:
        save_records(session, session.folder)
        if not is_interrupted:  # figures take a while, and somebody waits for the process to end
            write_report(session, session.folder)
    except (OSError, SgaisError) as error:
        print_line(console, f"warning: not all was written: {error}")
        return False
    return session.is_saved


def _nothing(session: Session) -> DataError:
    """A number would say that there was something to find."""
    bad = session.stream.num_bad_rows
    return DataError(
        f"`{without_password(session.settings.source)}` must have at least one good row, got none"
        + (f" among {bad:,}. Look at one with --on-error raise." if bad else ".")
    )


def _say_what_next(console: Console, session: Session, is_interrupted: bool, is_saved: bool) -> None:
    stopped = f"Stopped after {session.follower.num_rows:,} rows. " if is_interrupted else ""
    if session.folder is None:
        cure = "Only a run with --save DIR can be resumed." if is_interrupted else ""
        line = stopped + cure
    elif is_interrupted:
        line = f"{stopped}Resume with: {how_to_resume(session.folder, session.settings, 'sgais resume')}"
    elif is_saved:
        line = f"Wrote {session.folder.path / 'report.html'}, figures, records and a checkpoint."
    else:
        how = how_to_resume(session.folder, session.settings, "sgais resume")
        line = f"Not all of it could be saved. Make room, and write it anew with: {how}"
    if line:
        print_line(console, line)
