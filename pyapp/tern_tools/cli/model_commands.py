"""Commands on model files, done by training.pack in a checkout: pack, unpack, convert, verify."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import tern_engine

_HELP = {
    "pack": "Float tensors (.safetensors, .npz) to a .bin.",
    "unpack": "Check a .bin and say what is in it.",
    "convert": "A .bin to a .bin of another table format.",
    "verify": "Hold the engine against the reference, on a .bin.",
}


def _command(name: str) -> click.Command:
    @click.command(
        name,
        help=f"{_HELP[name]} In a checkout only; its options are those of training.pack {name}.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
    )
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def run(arguments: tuple[str, ...]) -> int:
        root = Path(tern_engine.__file__).resolve().parents[2]
        if not (root / "training" / "pack" / "__main__.py").is_file():
            raise click.UsageError(f"{name} runs in a checkout of the engine only")
        sys.path.append(str(root))
        from training.pack.__main__ import main

        try:
            return main([name, *arguments])
        except SystemExit as exit:  # argparse: 0 after --help, else 2
            return exit.code if isinstance(exit.code, int) else 2

    return run


MODEL_COMMANDS = [_command(name) for name in _HELP]
