"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from tern_engine import Engine
from tern_engine.errors import PREFIX, ModelError

from .inputs import FORMATS

as_json = click.option("--json", "as_json", is_flag=True, help="JSON Lines on stdout.")
model = click.option("--model", metavar="FILE", help="A .bin instead of the build's own model.")
progress = click.option(
    "--progress/--no-progress", default=None, help="Default: where stderr is a terminal."
)
form = click.option(
    "--input-format", "form", type=click.Choice(FORMATS), help="Default: by the file's name."
)
column = click.option("--column", default="text", show_default=True, help="Where the text is.")
vectors = click.option(
    "--vectors",
    type=click.Choice(["float32", "int8"]),
    help="int8 takes a quarter of the space. Default: float32, or as the index has it.",
)
patterns = click.option(
    "--glob", "patterns", multiple=True, metavar="PATTERN", help="Only these files; repeatable."
)


@contextmanager
def named(model: str | None) -> Iterator[None]:
    """A ModelError in here says which file it is about; None is the build's own."""
    try:
        yield
    except ModelError as error:
        if model is None:
            raise
        raise type(error)(f"{model}: {str(error).removeprefix(PREFIX)}") from None


def load_engine(model: str | None) -> Engine:
    """Engine.load, with errors that name the file."""
    with named(model):
        return Engine.load(model)
