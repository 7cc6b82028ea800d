"""python -m training.pack {pack,unpack,convert,verify}, run from the repository's root."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tern_engine.errors import InvalidInputError, TernError
from tern_engine.format import EMBEDDING_FORMATS, sections

from .convert import convert
from .engine_process import EngineRefused
from .pack import load_tensors, pack
from .sidecar import describe, write_model
from .unpack import UnpackedModel
from .verify import LARGEST_DELTA, LEAST_COSINE, SAMPLE, verify


def main(arguments: Sequence[str] | None = None) -> int:
    """0: done. 1: verify found the engine out of tolerance. 2: refused, with a message."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        return code
    except (TernError, EngineRefused, OSError) as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training.pack", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    command = commands.add_parser("pack", help="float tensors (.safetensors, .npz) to a .bin")
    command.add_argument("source", type=Path)
    command.add_argument("model", type=Path, help="the .bin to write; its sidecar is the .json")
    command.add_argument("--embedding", choices=EMBEDDING_FORMATS, default="int4")
    command.add_argument("--n-heads", type=int, help="where the source does not say")
    command.add_argument("--max-seq-len", type=int, help="where the source does not say")
    command.add_argument("--note", action="append", default=[], help="for the sidecar; repeatable")
    command.set_defaults(run=_pack)

    command = commands.add_parser("convert", help="a .bin to a .bin of another table format")
    command.add_argument("source", type=Path)
    command.add_argument("model", type=Path)
    command.add_argument("--embedding", choices=EMBEDDING_FORMATS, required=True)
    command.add_argument("--note", action="append", default=[], help="for the sidecar; repeatable")
    command.set_defaults(run=_convert)

    command = commands.add_parser("unpack", help="check a .bin and say what is in it")
    command.add_argument("model", type=Path)
    command.add_argument("--out", type=Path, help="also write its tensors to this .npz")
    command.set_defaults(run=_unpack)

    command = commands.add_parser("verify", help="hold the engine against the reference")
    command.add_argument("model", type=Path)
    command.add_argument("--texts", type=Path, help="a UTF-8 file, one text a line")
    command.set_defaults(run=_verify)
    return parser


def _pack(options: argparse.Namespace) -> int:
    tensors, numbers = load_tensors(options.source)
    for name in ("n_heads", "max_seq_len"):
        given = getattr(options, name)
        if given is not None:
            numbers[name] = given
        if name not in numbers:
            raise InvalidInputError(
                field=name, found="not in the source", expected=f"--{name.replace('_', '-')}"
            )
    data = pack(
        tensors,
        embedding_format=options.embedding,
        n_heads=numbers["n_heads"],
        max_seq_len=numbers["max_seq_len"],
    )
    return _write(options, data, "training.pack pack")


def _convert(options: argparse.Namespace) -> int:
    data = convert(options.source.read_bytes(), options.embedding)
    return _write(options, data, "training.pack convert")


def _write(options: argparse.Namespace, data: bytes, made_by: str) -> int:
    sidecar = write_model(
        options.model, data, made_by=made_by, source=options.source, notes=options.note
    )
    print(f"{options.model}: {len(data):,} bytes, and {sidecar.name}")
    return 0


def _unpack(options: argparse.Namespace) -> int:
    data = options.model.read_bytes()
    model = UnpackedModel.from_bytes(data)
    print(json.dumps(describe(data), indent=2))
    for section in sections(model.header):
        shape = list(model.tensors[section.name].shape)
        print(f"{section.offset:>10} {section.nbytes:>10}  {section.kind:9} {section.name} {shape}")
    if options.out:
        np.savez(options.out, allow_pickle=False, **model.tensors)
    return 0


def _verify(options: argparse.Namespace) -> int:
    texts: Sequence[str] = SAMPLE
    if options.texts:
        texts = options.texts.read_text("utf-8").splitlines()
        if not texts:
            raise InvalidInputError(field="--texts", found="an empty file", expected="a line each")
    found = verify(options.model, texts)
    print(found)
    if found.within_tolerance:
        return 0
    print(f"out of tolerance: cosine >= {LEAST_COSINE}, |delta| <= {LARGEST_DELTA}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
