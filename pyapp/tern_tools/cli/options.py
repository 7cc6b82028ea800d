"""Options that several commands have."""

from __future__ import annotations

import click

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
