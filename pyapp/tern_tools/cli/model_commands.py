"""Commands on model files: pack, unpack, convert, verify."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
from tern_engine.errors import InvalidInputError
from tern_engine.format import EMBEDDING_FORMATS, sections

from .._whole_file import whole_file
from ..models.convert import convert as converted
from ..models.pack import load_tensors
from ..models.pack import pack as packed
from ..models.sidecar import describe, write_model
from ..models.unpack import UnpackedModel
from ..models.verify import LARGEST_DELTA, LEAST_COSINE, SAMPLE
from ..models.verify import verify as compared
from . import options
from .inputs import read_records
from .outputs import print_json

_FORMATS = click.Choice(list(EMBEDDING_FORMATS))
_note = click.option("--note", "notes", multiple=True, help="For the .json; repeatable.")


@click.command(short_help="Float tensors to a model file.")
@click.argument("source")
@click.argument("model")
@click.option("--embedding", type=_FORMATS, default="int4", show_default=True)
@click.option("--n-heads", type=int, help="Where SOURCE does not say.")
@click.option("--max-seq-len", type=int, help="Where SOURCE does not say.")
@_note
@options.as_json
def pack(
    source: str,
    model: str,
    embedding: str,
    n_heads: int | None,
    max_seq_len: int | None,
    notes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Float tensors of SOURCE, .safetensors or .npz, to the .bin MODEL, with a .json beside it."""
    tensors, numbers = load_tensors(source)
    for name, given in (("n_heads", n_heads), ("max_seq_len", max_seq_len)):
        if given is not None:
            numbers[name] = given
        if name not in numbers:
            option = f"--{name.replace('_', '-')}"
            raise InvalidInputError(field=name, found="not in the source", expected=option)
    data = packed(
        tensors,
        embedding_format=embedding,
        n_heads=numbers["n_heads"],
        max_seq_len=numbers["max_seq_len"],
    )
    _write(model, data, "tern-engine pack", source, notes, as_json)


@click.command(short_help="A model in another table format.")
@click.argument("source")
@click.argument("model")
@click.option("--embedding", type=_FORMATS, required=True)
@_note
@options.as_json
def convert(source: str, model: str, embedding: str, notes: tuple[str, ...], as_json: bool) -> None:
    """The .bin SOURCE to the .bin MODEL of another table format, with a .json beside it."""
    with options.named(source):
        data = converted(Path(source).read_bytes(), embedding)
    _write(model, data, "tern-engine convert", source, notes, as_json)


@click.command(short_help="Check a model file, say what is in it.")
@click.argument("model")
@click.option("--out", metavar="FILE", help="Write its tensors to this .npz, too.")
@options.as_json
def unpack(model: str, out: str | None, as_json: bool) -> None:
    """Check the .bin MODEL, and say what is in it."""
    data = Path(model).read_bytes()
    with options.named(model):
        unpacked = UnpackedModel.from_bytes(data)
    if out is not None:
        with whole_file(Path(out)) as file:
            np.savez(file, allow_pickle=False, **unpacked.tensors)
    about = describe(data)
    layout = [
        {**asdict(section), "shape": list(unpacked.tensors[section.name].shape)}
        for section in sections(unpacked.header)
    ]
    if as_json:
        print_json({**about, "sections": layout})
        return
    print(f"{about['bytes']:,} bytes, SHA-256 {about['sha256']}")
    for name, value in about["header"].items():
        print(f"{name:16} {value}")
    for each in layout:
        where = f"{each['offset']:>10} {each['nbytes']:>10}  {each['kind']:9}"
        print(f"{where} {each['name']} {each['shape']}")


@click.command(short_help="Hold the engine against a reference.")
@click.argument("model")
@click.option("--texts", metavar="FILE", help="UTF-8, a text a line. Default: a few of its own.")
@click.option(
    "--engine",
    metavar="FOLDER",
    help="Where a build of MODEL's table format lies. Default: the installed one.",
)
@options.as_json
@click.pass_obj
def verify(
    find_engine: Callable[[str], Path] | None,
    model: str,
    texts: str | None,
    engine: str | None,
    as_json: bool,
) -> int:
    """Hold the engine's vectors by the .bin MODEL against those of a plain reference."""
    given = SAMPLE if texts is None else tuple(m["text"] for _, m in read_records(texts, "lines"))
    if not given:
        raise InvalidInputError(field=texts, found="an empty file", expected="a text a line")
    package = None if engine is None else Path(engine)
    with options.named(model):
        if package is None and find_engine is not None:
            package = find_engine(UnpackedModel.from_file(model).header.embedding_format)
        found = compared(Path(model), given, package)
    if as_json:
        print_json({**asdict(found), "within_tolerance": found.within_tolerance})
    else:
        print(found)
        if not found.within_tolerance:
            print(f"out of tolerance: cosine >= {LEAST_COSINE}, |delta| <= {LARGEST_DELTA}")
    return 0 if found.within_tolerance else 1


def _write(
    model: str, data: bytes, made_by: str, source: str, notes: tuple[str, ...], as_json: bool
) -> None:
    sidecar = write_model(
        Path(model), data, made_by=made_by, source=Path(source), notes=list(notes)
    )
    if as_json:
        print_json({"file": model, "sidecar": str(sidecar), **describe(data)})
    else:
        print(f"{model}: {len(data):,} bytes, and {sidecar.name}")


MODEL_COMMANDS: tuple[click.Command, ...] = (pack, unpack, convert, verify)
