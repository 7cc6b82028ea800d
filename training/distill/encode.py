"""Teacher vectors of a plan, in chunks that can be stopped, resumed and shared between processes.

    python -m training.distill.encode --name main [--part 0/2] [--threads 1] [--dtype bfloat16]

Each chunk is <cache>/corpus/<name>/chunk_NNNN.npz: ids (uint16, joined), length (uint8) and
vectors (float16 [n, 384]). held_out.npz and queries.npz hold float32 vectors of the unseen texts.
"""

from __future__ import annotations

import argparse
import io
import os
import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from training.distill.corpus import CHUNK_TEXTS, read_plan
from training.distill.paths import cache_dir, data_dir, note_pid, write_atomically
from training.distill.teacher import Teacher, teacher_tokenizer
from training.distill.textkeys import held_out_queries


def chunk_path(folder: Path, number: int) -> Path:
    """File of one chunk."""
    return folder / f"chunk_{number:04d}.npz"


def save_arrays(path: Path, **arrays: NDArray[np.generic]) -> None:
    """One .npz, written atomically."""
    held = io.BytesIO()
    np.savez(held, allow_pickle=False, **arrays)
    write_atomically(path, held.getvalue())


def encode_texts(teacher: Teacher, texts: list[str], kind: type) -> dict[str, NDArray[np.generic]]:
    """Arrays of a chunk: joined ids, lengths, vectors."""
    ids = [e.ids for e in teacher_tokenizer().encode_batch(texts)]
    return {
        "ids": np.concatenate([np.array(row, np.uint16) for row in ids]),
        "length": np.array([len(row) for row in ids], np.uint8),
        "vectors": teacher.encode_ids(ids).astype(kind),
    }


def token_vectors(teacher: Teacher, folder: Path) -> Path:
    """tokens.npz: the teacher's vector [vocabulary, 384] of each token alone between the marks."""
    path = folder / "tokens.npz"
    if not path.exists():
        size = teacher_tokenizer().get_vocab_size()
        ids = [[101, token, 102] for token in range(size)]
        save_arrays(path, vectors=teacher.encode_ids(ids).astype(np.float16))
    return path


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--name", default="main")
    parser.add_argument("--data", help="only for the unseen queries, first part")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", default="bfloat16", choices=("bfloat16", "float32"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--first", type=int, default=0, help="chunk to begin with; then the rest")
    parser.add_argument("--most", type=int, default=1_000_000, help="chunks at most")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    folder = cache_dir() / "corpus" / given.name
    note_pid(f"encode {given.part}")
    part, parts = (int(number) for number in given.part.split("/"))
    teacher = Teacher(getattr(torch, given.dtype), given.device)
    if part == 0:
        token_vectors(teacher, folder)
        exact = Teacher(torch.float32, given.device)
        unseen = {"held_out": [text for text, _ in read_plan(folder / "held_out.txt.gz")]}
        if given.data or os.environ.get("TERN_TRAINING_DATA"):
            unseen["queries"] = held_out_queries(data_dir(given.data) / "corpus")
        for name, texts in unseen.items():
            if not (folder / f"{name}.npz").exists():
                save_arrays(folder / f"{name}.npz", **encode_texts(exact, texts, np.float32))
    rows = read_plan(folder / "plan.txt.gz")
    chunks = min(given.most, -(-len(rows) // CHUNK_TEXTS))
    numbers = [*range(given.first, chunks), *range(min(given.first, chunks))]
    for number in numbers[part::parts]:
        path = chunk_path(folder, number)
        if path.exists():
            continue
        started = time.monotonic()
        texts = [text for text, _ in rows[number * CHUNK_TEXTS : (number + 1) * CHUNK_TEXTS]]
        arrays = encode_texts(teacher, texts, np.float16)
        save_arrays(path, **arrays)
        took = time.monotonic() - started
        print(
            f"chunk {number}/{chunks}: {len(texts) / took:.0f} texts/s, "
            f"{arrays['length'].sum() / took:.0f} tokens/s, {took:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
