"""python -m training.pack {pack,unpack,convert,verify}, run from the repository's root."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tern_tools.cli import Commands, run
from tern_tools.cli.model_commands import MODEL_COMMANDS

from .engine_process import package_path

_GROUP = Commands("training.pack", {each.name or "": each for each in MODEL_COMMANDS})


def main(arguments: Sequence[str] | None = None) -> int:
    """The commands of `tern-engine`, with its exit codes; verify takes the checkout's build of the
    model's own format."""
    given = sys.argv[1:] if arguments is None else arguments
    return run(given, _GROUP, "python -m training.pack", find_engine=package_path)


if __name__ == "__main__":
    sys.exit(main())
