"""The forward pass, written once at load as a short program that the kernel runs.

Shapes: tokens are those of all texts of a call, one after another; rows are the distinct ones of
each text; chunk is the number of rows that one `rows` group works on at a time, small enough for
its buffers to stay in the cache.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .errors import KernelSelfTestError
from .format import Header
from .kernels import Kernel, _ops
from .model import BLOCK_COLUMNS, Layer, Layout, Linear, Model, Norm, padded_head, round_up
from .pieces import Pieces
from .texts import Texts, Vocabulary

CHUNK_ROWS = 32
MAX_TEXTS = 64  # texts of one call
REMEMBERED = 2048  # tokens whose layer-1 q, k, v are kept; a power of two
MIN_ROW_CAPACITY = 512  # tokens of one call, or the longest text when that is more
# Floats between the rows of `hidden`: 16 rows 4 KB apart would all compete for the same 8 lines of
# the first cache.
HIDDEN_GAP = 16
TILE_ROWS = 4  # rows that quantize.c treats at a time


@dataclass(frozen=True)
class Scratch:
    """Offsets of the buffers of a call, f32 where not said otherwise.

    lengths u32 [MAX_TEXTS]; ids u32 [tokens + those of the longest text];
    places u32 [tokens]; distinct u32 [rows + 4]; counts u32 [MAX_TEXTS];
    x [rows][d]; qkv [rows][3][heads][head];
    fresh [chunk][3][heads][head]; missing u32 [chunk]; keys u32 [REMEMBERED];
    values [REMEMBERED][3][heads][head]; mixed [rows][d]; hidden [chunk][ffn + HIDDEN_GAP];
    row [TILE_ROWS][d];
    codes i16 [chunk][padded columns];
    inverse_scale [chunk]; bounds u32 [chunk][2]; narrow i16 and wide i32 [widest output][16];
    attention see attention.c;
    pooled [MAX_TEXTS][d]; out [MAX_TEXTS][padded output].
    """

    lengths: int
    ids: int
    places: int
    distinct: int
    counts: int
    x: int
    qkv: int
    fresh: int
    missing: int
    keys: int
    values: int
    mixed: int
    hidden: int
    row: int
    codes: int
    inverse_scale: int
    bounds: int
    narrow: int
    wide: int
    attention: int
    pooled: int
    out: int


def row_capacity(header: Header) -> int:
    """Most tokens of one call."""
    return max(MIN_ROW_CAPACITY, header.max_seq_len)


def place_scratch(header: Header, padded_output: int, layout: Layout) -> Scratch:
    """Plan the buffers of a call."""
    d, ffn, rows = header.d_model, header.ffn_dim, row_capacity(header)
    head, keys = padded_head(header), round_up(header.max_seq_len, 8)
    qkv = 3 * header.n_heads * head
    widest = max(qkv, ffn)
    return Scratch(
        lengths=layout.place(4 * MAX_TEXTS),
        ids=layout.place(4 * (rows + header.max_seq_len)),
        places=layout.place(4 * rows),
        distinct=layout.place(4 * (rows + 4)),
        counts=layout.place(4 * MAX_TEXTS),
        x=layout.place(4 * rows * d),
        qkv=layout.place(4 * rows * qkv),
        fresh=layout.place(4 * CHUNK_ROWS * qkv),
        missing=layout.place(4 * CHUNK_ROWS),
        keys=layout.place(4 * REMEMBERED),
        values=layout.place(4 * REMEMBERED * qkv),
        mixed=layout.place(4 * rows * d),
        hidden=layout.place(4 * CHUNK_ROWS * (ffn + HIDDEN_GAP)),
        row=layout.place(4 * TILE_ROWS * d),
        codes=layout.place(2 * CHUNK_ROWS * round_up(max(d, ffn), BLOCK_COLUMNS)),
        inverse_scale=layout.place(4 * CHUNK_ROWS),
        bounds=layout.place(8 * CHUNK_ROWS),
        narrow=layout.place(32 * widest),
        wide=layout.place(64 * widest),
        attention=layout.place(4 * ((head + round_up(head, 8) + 16) * keys + 16 * head)),
        pooled=layout.place(4 * MAX_TEXTS * d),
        out=layout.place(4 * MAX_TEXTS * padded_output),
    )


def forward_pass(model: Model, at: Scratch, vocabulary: Vocabulary, texts: int) -> list[list[int]]:
    """The program: one list of words an instruction. `texts` is where they are read from."""
    header, weights = model.header, model.weights
    d, ffn = header.d_model, header.ffn_dim
    hidden_stride = ffn + HIDDEN_GAP
    program: list[list[int]] = []

    def rows(*instructions: list[int]) -> None:
        program.append(_ops.rows(count=len(instructions), chunk=CHUNK_ROWS))
        program.extend(instructions)

    def quantize(
        source: int,
        columns: int,
        *,
        norm: Norm | None = None,
        local: bool = False,
        only: int = 0,
        stride: int = 0,
    ) -> list[int]:
        return _ops.quantize(
            source=source,
            stride=stride or columns,
            source_local=int(local),
            rows=only,
            gamma=norm.gamma if norm else 0,
            beta=norm.beta if norm else 0,
            row=at.row,
            codes=at.codes,
            inverse_scale=at.inverse_scale,
            bounds=at.bounds,
            columns=columns,
            padded=round_up(columns, BLOCK_COLUMNS),
        )

    def product(
        linear: Linear, target: int, mode: int, *, local: bool = False, stride: int = 0
    ) -> list[int]:
        return _ops.product(
            codes=at.codes,
            inverse_scale=at.inverse_scale,
            bounds=at.bounds,
            weights=linear.weights,
            indexes=linear.indexes,
            narrow=at.narrow,
            wide=at.wide,
            inverse_weight=linear.inverse_scale,
            bias=linear.bias,
            target=target,
            stride=stride or linear.outputs,
            target_local=int(local),
            columns=linear.columns,
            outputs=linear.outputs,
            mode=mode,
        )

    def first_qkv(layer: Layer) -> None:
        """As qkv(), but only for tokens whose rows are not remembered."""
        memory = {
            "ids": at.distinct,
            "keys": at.keys,
            "values": at.values,
            "slots": REMEMBERED,
            "target": at.qkv,
            "width": layer.qkv.outputs,
            "missing": at.missing,
        }
        rows(
            _ops.recall(**memory),
            quantize(at.x, d, norm=layer.ln_1, only=at.missing),
            product(layer.qkv, at.fresh, _ops.MODE_STORE, local=True),
            _ops.remember(**memory, source=at.fresh),
        )

    def qkv(layer: Layer) -> None:
        rows(
            quantize(at.x, d, norm=layer.ln_1),
            product(layer.qkv, at.qkv, _ops.MODE_STORE),
        )

    def attention() -> None:
        program.append(
            _ops.attend(
                qkv=at.qkv,
                target=at.mixed,
                scratch=at.attention,
                heads=header.n_heads,
                d_head=header.d_head,
                padded_head=padded_head(header),
                places=at.places,
            )
        )

    def mix_and_feed_forward(layer: Layer) -> None:
        rows(
            quantize(at.mixed, d),
            product(layer.out, at.x, _ops.MODE_ADD),
            quantize(at.x, d, norm=layer.ln_2),
            product(layer.up, at.hidden, _ops.MODE_GELU, local=True, stride=hidden_stride),
            quantize(at.hidden, ffn, local=True, stride=hidden_stride),
            product(layer.down, at.x, _ops.MODE_ADD),
        )

    program.append(
        _ops.read(
            texts=texts,
            pieces=vocabulary.pieces,
            offsets=vocabulary.offsets,
            slots=vocabulary.slots,
            slot_count=vocabulary.slot_count,
            longest=vocabulary.longest,
            unknown=vocabulary.unknown,
            start=vocabulary.start,
            end=vocabulary.end,
            ids=at.ids,
            lengths=at.lengths,
            most_texts=MAX_TEXTS,
            most_tokens=row_capacity(header),
            longest_text=header.max_seq_len,
        )
    )
    program.append(_ops.distinct(ids=at.ids, places=at.places, rows=at.distinct, counts=at.counts))
    program.append(
        _ops.gather(
            ids=at.distinct,
            table=weights.table,
            row_scale=weights.row_scale,
            target=at.x,
            row_bytes=weights.row_bytes,
            d_model=d,
            vocab=header.vocab_size,
        )
    )
    for i, layer in enumerate(weights.layers):
        qkv(layer) if i else first_qkv(layer)
        attention()
        mix_and_feed_forward(layer)
    program.append(
        _ops.pool(
            source=at.x,
            gamma=weights.ln_final.gamma,
            beta=weights.ln_final.beta,
            target=at.pooled,
            d_model=d,
            places=at.places,
        )
    )
    program.append(
        _ops.project(
            source=at.pooled,
            weights=weights.projection,
            bias=weights.projection_bias,
            target=at.out,
            d_model=d,
            padded=weights.padded_output,
        )
    )
    return program


class Encoder:
    """Runs the forward pass of up to MAX_TEXTS texts and row_capacity tokens in one call."""

    def __init__(self, kernel: Kernel, model: Model, layout: Layout, pieces: Pieces) -> None:
        header = model.header
        self.scratch = place_scratch(header, model.weights.padded_output, layout)
        vocabulary = Vocabulary(pieces, layout)
        self._texts = Texts(pieces, header.max_seq_len, layout)
        self.text = self._texts.offset
        program = forward_pass(model, self.scratch, vocabulary, self._texts.offset)
        self._program = layout.place(4 * _ops.INSTRUCTION_WORDS * len(program))
        kernel.reserve(layout.end)
        vocabulary.write(kernel)
        self._texts.open(kernel)
        kernel.write(self._program, array("I", [word for line in program for word in line]))
        self.out_stride = 4 * model.weights.padded_output
        bad = kernel.call(
            "check_program",
            *(self._program, len(program), row_capacity(header), MAX_TEXTS, header.max_seq_len),
        )
        if bad >= 0:
            raise KernelSelfTestError(
                field=f"instruction {bad} of the forward pass",
                found=program[min(bad, len(program) - 1)],
                expected="known, and inside the kernel's memory",
            )
        self._kernel = kernel
        self._max_seq_len = header.max_seq_len
        kernel.call("fill_zero", self.scratch.keys, 4 * REMEMBERED)
        kernel.call("choose", self._program, len(program))
        self.out = kernel.window(self.scratch.out, MAX_TEXTS * self.out_stride)

    def run(self, text: str) -> None:
        """Embed one text; the result stands in `out`. Raises InvalidInputError if it is no str."""
        self._texts.assign_one(text)
        self._kernel.call("run_first")

    def run_written(self) -> None:
        """As run(), of a plain text that the host has written to `text`, AFTER_ONE behind it."""
        self._kernel.call("run_first")

    def read(self, text: str) -> tuple[int, bool]:
        """Tokenize one text. Returns how many ids stand in `scratch.ids`, until the next call, and
        whether the text was cut. Raises as run() does."""
        self._texts.cut = False
        self._texts.assign_one(text)
        count = self._kernel.call("read_first")
        if count > self._max_seq_len:
            return self._max_seq_len, True
        return count, self._texts.cut

    def run_all(self, texts: Sequence[str]) -> Iterator[int]:
        """Embed texts in as many calls as they take. Yields how many each took, their results in
        `out`, out_stride bytes apart, until the next step."""
        for left in self._texts.assign_parts(texts):
            name = "run_first"
            while left > 0:
                done = self._kernel.call(name)
                yield done
                left -= done
                name = "run_next"
