"""How every command fails: one line on standard error that says what to do, and an exit code that says whose fault.

2 means that the command was written wrongly, 1 that it could not do its work; 3 is that of `--strict`.
"""

import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from sgais.cli.output.standard_streams import forget_standard_output, prepare
from sgais.cli.session.interruption import ending_at_once
from sgais.errors import ConfigError, SgaisError

USAGE, FAILURE = 2, 1
PIPE_CLOSED = 128 + 13  # as shells have it: the number of SIGPIPE


class Commands(TyperGroup):
    """The subcommands of `sgais`; `--debug` may stand anywhere among the arguments."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **options: Any) -> Any:
        """Run a command and end the process with its exit code."""
        prepare()
        arguments = list(sys.argv[1:] if args is None else args) or ["--help"]
        options["standalone_mode"] = False  # errors are to reach us
        try:
            with ending_at_once():
                code = super().main([argument for argument in arguments if argument != "--debug"], **options)
        except Exception as error:
            if "--debug" in arguments:
                traceback.print_exc()
            else:
                print(f"sgais: {_in_one_line(error)}", file=sys.stderr)
            sys.exit(_exit_code(error))
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; where whoever reads its output has seen enough, it ends as other programs do."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            forget_standard_output()
            raise typer.Exit(PIPE_CLOSED) from None


def _in_one_line(error: Exception) -> str:
    if _is_about_usage(error):
        context = getattr(error, "ctx", None)
        where = f" See {context.command_path} --help." if context else ""
        message = error.format_message()  # type: ignore[attr-defined]
        text = f"{message}{'' if message.endswith(('.', '?')) else '.'}{where}"
    elif isinstance(error, SgaisError):
        text = str(error)
    else:
        text = f"{type(error).__name__}: {error}. Run it again with --debug to see where."
    return " ".join(text.split())


def _is_about_usage(error: Exception) -> bool:
    """Whether the parser of the command line raised it; typer's class for that has moved between versions."""
    return hasattr(error, "format_message")


def _exit_code(error: Exception) -> int:
    return USAGE if _is_about_usage(error) or isinstance(error, ConfigError) else FAILURE
