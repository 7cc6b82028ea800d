"""The command line `tern-engine`: docs/cli.md.

Exit codes:

    0    done
    1    the answer is no: search found nothing, verify found the engine out of tolerance
    2    wrong usage, or input that is not what it should be
    3    the engine, a model or an index was refused
    4    a file could not be read or written
    130  interrupted; 143 terminated; 141 the reader of the output went away
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from tern_engine.errors import PREFIX, DimensionError, InvalidInputError, TernError

from .. import __version__
from ..models.engine_process import EngineRefused
from .bulk_command import bulk
from .embed_command import embed
from .index_commands import index, search
from .model_commands import MODEL_COMMANDS
from .text_commands import classify, info, similarity, tokenize

BAD_INPUT, REFUSED, NO_FILE = 2, 3, 4
INTERRUPTED, TERMINATED, PIPE_CLOSED = 130, 143, 141


class _PipeClosed(Exception):
    """click takes a BrokenPipeError for itself and exits with 1."""


class Commands(click.Group):
    """A group that tells a closed pipe from other failures, and takes -h for --help.

    click keeps a command's help option from the first call, whichever group that came by.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings.setdefault("help_option_names", ["-h", "--help"])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except BrokenPipeError:  # of --help
            raise _PipeClosed from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            raise _PipeClosed from None


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="tern-tools")
def tern_engine() -> None:
    """Sentence embeddings, and search by meaning, on this machine's CPU."""


_COMMANDS = (embed, bulk, search, index, tokenize, similarity, classify, info)
for _command in (*_COMMANDS, *MODEL_COMMANDS):
    tern_engine.add_command(_command)


def run(
    arguments: Sequence[str],
    commands: click.Command = tern_engine,
    name: str = "tern-engine",
    find_engine: Callable[[str], Path] | None = None,
) -> int:
    """Run a command and return its exit code; what goes wrong is one line on stderr.

    find_engine  table format -> the folder of the build that verify takes, by default this one's
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        result = commands.main(
            args=list(arguments), prog_name=name, standalone_mode=False, obj=find_engine
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return BAD_INPUT
    except click.ClickException as error:
        return _failed(error.format_message(), BAD_INPUT)
    except (InvalidInputError, DimensionError) as error:
        return _failed(str(error), BAD_INPUT)
    except (TernError, EngineRefused) as error:
        return _failed(str(error), REFUSED)
    except ModuleNotFoundError as error:  # of an extra that is not installed
        return _failed(str(error), BAD_INPUT)
    except _PipeClosed:
        _drop_output()
        return PIPE_CLOSED
    except (click.Abort, KeyboardInterrupt):
        _drop_output()
        return INTERRUPTED
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if error.filename is not None else ""
        return _failed(f"{where}{error.strerror or error}", NO_FILE)


def main() -> None:
    """The console script."""
    # As an exception, so that unfinished files are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    sys.exit(run(sys.argv[1:]))


def _failed(message: str, code: int) -> int:
    line = " ".join(message.removeprefix(PREFIX).split())
    print(f"{PREFIX}{line}", file=sys.stderr)
    return code


def _drop_output() -> None:
    """Keep Python from flushing at exit what cannot be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
